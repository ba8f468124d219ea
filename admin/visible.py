"""The sites that the operator of a request sees: decided here and nowhere else.

Lists and figures are asked for `visible_ids`. Addresses that name an object are checked before their view is
called, by `require_visible`: what belongs to another site is answered as what does not exist.
"""

from collections.abc import Callable, Mapping
from typing import Any

from flask import abort, request

from admin.people.sessions import current_operator
from server.api.access import crawling, delivery, dialogue, stores
from server.domain.roles import SiteSet
from server.domain.site import Site

Values = Mapping[str, Any]

SITE_OF: Mapping[str, Callable[[Values], str]] = {
    "sites": lambda values: str(values["site_id"]),
    "conversations": lambda values: dialogue().conversations.get(values["conversation_id"]).site_id,
    "messages": lambda values: delivery().contact.get(values["request_id"]).site_id,
    "gaps": lambda values: stores().gaps.get(values["gap_id"]).site_id,
    "playground": lambda values: stores().playground_runs.get(values["run_id"]).site_id,
    "dry-runs": lambda values: getattr(crawling().dry_runs.get(values["run_id"]), "site_id", ""),
}
"""First part of an address -> the site of the object that the rest of it names. Raises UnknownRecord."""


OWN = frozenset({"account", "static"})
"""Addresses that name nothing of a site."""


def visible_ids() -> SiteSet:
    """Ids of the sites that this operator sees; None for all of them."""
    operator = current_operator()
    return frozenset() if operator is None else operator.visible_sites


def sees_all() -> bool:
    """Whether this operator sees every site, those included that are added later."""
    return visible_ids() is None


def sees(site_id: str) -> bool:
    """Whether this operator sees the site."""
    ids = visible_ids()
    return ids is None or site_id in ids


def visible_sites() -> list[Site]:
    """The sites that this operator sees, the oldest first."""
    return [site for site in stores().sites.all() if sees(site.id)]


def visible_site(site_id: str) -> Site | None:
    """The site if this operator sees it, else None."""
    return stores().sites.find(site_id) if sees(site_id) else None


def require_site(site_id: str) -> None:
    """Answer 404 unless this operator sees the site."""
    if not sees(site_id):
        abort(404)


def require_visible() -> None:
    """Answer 404 to an address that names something of a site that this operator does not see. Addresses
    that are not in `SITE_OF` need access to all sites."""
    values = request.view_args
    if not values or request.url_rule is None or sees_all():
        return
    area = request.url_rule.rule.split("/")[2]
    if area not in OWN:
        require_site(SITE_OF[area](values) if area in SITE_OF else "")
