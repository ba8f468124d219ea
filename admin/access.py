"""How the pages reach the parts of the installation. Each page imports the parts that it works with."""

from __future__ import annotations

from typing import TYPE_CHECKING

from server.api.access import configuration as configuration
from server.api.access import crawling as crawling
from server.api.access import delivery as delivery
from server.api.access import dialogue as dialogue
from server.api.access import engine as engine
from server.api.access import people_stores as people_stores
from server.api.access import runtime as runtime
from server.api.access import shared as shared
from server.api.access import stores as stores

if TYPE_CHECKING:
    from server.gaps.gap_work import GapWork
    from server.gaps.own_answers import OwnAnswers
    from server.playground.asking import Playground
    from server.runtime.stores import QualityStores
    from server.storage.database import Database


def database() -> Database:
    """Return the database itself, for backups and work over all tables."""
    return runtime().database


def quality_stores() -> QualityStores:
    """Return the stores of test sets, runs and gates."""
    return runtime().quality


def own_answers() -> OwnAnswers:
    """Return the curated answers as visitors get them."""
    return runtime().own_answers


def gap_work() -> GapWork:
    """Return what keeps gaps up to date."""
    return runtime().gap_work


def playground_runner() -> Playground:
    """Return what carries out runs of the playground."""
    return runtime().playground
