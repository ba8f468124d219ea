"""How the pages reach the parts of the installation. Each page imports the parts that it works with."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from flask import current_app

if TYPE_CHECKING:
    from server.gaps.gap_work import GapWork
    from server.gaps.own_answers import OwnAnswers
    from server.playground.running import Playground
    from server.runtime.configuration import Configuration
    from server.runtime.crawling import Crawling
    from server.runtime.engine import SiteEngine
    from server.runtime.runtime import Runtime
    from server.runtime.shared import Shared
    from server.runtime.stores import (
        DeliveryStores,
        DialogueStores,
        PeopleStores,
        QualityStores,
        SiteStores,
    )
    from server.storage.database import Database


def runtime() -> Runtime:
    """Return the runtime of the application that answers this request."""
    return cast("Runtime", current_app.extensions["docent"])


def configuration() -> Configuration:
    """Return settings, folder and secrets."""
    return runtime().configuration


def database() -> Database:
    """Return the database itself, for backups and work over all tables."""
    return runtime().database


def stores() -> SiteStores:
    """Return the stores of sites."""
    return runtime().stores


def dialogue() -> DialogueStores:
    """Return the stores of conversations."""
    return runtime().dialogue


def delivery() -> DeliveryStores:
    """Return the stores of messages and events."""
    return runtime().delivery


def people_stores() -> PeopleStores:
    """Return the stores of operators."""
    return runtime().people


def quality_stores() -> QualityStores:
    """Return the stores of test sets, runs and gates."""
    return runtime().quality


def shared() -> Shared:
    """Return what all processes share."""
    return runtime().shared


def engine() -> SiteEngine:
    """Return what answers and indexes sites."""
    return runtime().engine


def crawling() -> Crawling:
    """Return what starts and controls crawls."""
    return runtime().crawling


def own_answers() -> OwnAnswers:
    """Return the curated answers as visitors get them."""
    return runtime().own_answers


def gap_work() -> GapWork:
    """Return what keeps gaps up to date."""
    return runtime().gap_work


def playground_runner() -> Playground:
    """Return what carries out runs of the playground."""
    return runtime().playground
