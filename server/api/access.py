"""How the routes reach the rest of Docent."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from flask import current_app

if TYPE_CHECKING:
    from server.api.recent_sites import RecentSites
    from server.api.streams import Streams
    from server.api.visitor_tokens import VisitorTokens
    from server.guards.proof_of_work import ProofOfWork
    from server.services import Services


def services() -> Services:
    """The services of the application that answers this request."""
    return cast("Services", current_app.extensions["docent"])


def streams() -> Streams:
    """The answers that are being written in this process."""
    return cast("Streams", current_app.extensions["docent-streams"])


def recent_sites() -> RecentSites:
    """The sites, as they were at most a second ago."""
    return cast("RecentSites", current_app.extensions["docent-sites"])


def visitor_tokens() -> VisitorTokens:
    """Makes and reads visitors' tokens."""
    return cast("VisitorTokens", current_app.extensions["docent-tokens"])


def proof_of_work() -> ProofOfWork:
    """Makes and checks what new visitors of busy sites have to solve."""
    return cast("ProofOfWork", current_app.extensions["docent-proofs"])
