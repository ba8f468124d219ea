"""What visitors wrote to people, and whether it arrived."""

from __future__ import annotations

from collections.abc import Sequence

from flask import flash, redirect, render_template, request, url_for
from flask.typing import ResponseReturnValue

from admin.access import services
from admin.filters import DAY_OPTIONS, chosen_days, chosen_site, site_options
from admin.page import Page
from admin.pages import conversations as conversations_page
from admin.paging import Listing, listed
from server.domain.contact import Channel, ContactOptions, ContactRequest, Delivery, DeliveryState

page = Page(under=conversations_page.page)

ROWS = 30
STATES = {
    DeliveryState.WAITING: "On its way",
    DeliveryState.SENT: "Sent",
    DeliveryState.FAILED: "Not sent",
}
CHANNELS = {Channel.EMAIL: "E-mail", Channel.WEBHOOK: "Webhook"}

Written = tuple[ContactRequest, list[Delivery[Channel]]]


@page.get("/messages")
def messages() -> ResponseReturnValue:
    """Filtered by `site`, `state` and `days`; what is not known counts as no filter."""
    sites, site_id = chosen_site()
    state = next((known for known in DeliveryState if known == request.args.get("state")), None)
    days, since = chosen_days()
    found = listed(
        lambda limit, offset: services().contact.recent(
            site_id=site_id or None, state=state, since=since, limit=limit, offset=offset
        ),
        ROWS,
    )
    return render_template(
        "admin/messages.html",
        written=Listing(with_deliveries(found.rows), found.number, found.more),
        sites=sites,
        site_id=site_id,
        site_options=site_options(sites),
        state=state,
        total=services().contact.total(site_id=site_id or None, state=state, since=since),
        state_options=[("", "Any"), *((known.value, label) for known, label in STATES.items())],
        days=days,
        day_options=DAY_OPTIONS,
        is_filtered=bool(site_id or state or since),
        takes_messages=any(ContactOptions.of(site.options).on for site in sites.values()),
        words=words(),
    )


@page.get("/messages/<request_id>")
def message(request_id: str) -> ResponseReturnValue:
    found = services().contact.get(request_id)
    return render_template(
        "admin/message.html",
        written=with_deliveries([found])[0],
        site=services().sites.find(found.site_id),
        words=words(),
    )


@page.post("/messages/<request_id>/again")
def message_again(request_id: str) -> ResponseReturnValue:
    """Sends a message on every way of its site on which it did not arrive; on all when it did on each."""
    found = services().contact.get(request_id)
    channels = ContactOptions.of(services().sites.get(found.site_id).options).channels
    if channels:
        services().deliveries.again(request_id, channels)
        flash("It is being sent again. Load this page again in a moment to see whether it arrived.", "done")
    else:
        flash("Messages of this site are sent nowhere: set an e-mail address or a webhook first.", "problem")
    return redirect(url_for("admin.message", request_id=request_id))


def with_deliveries(requests: Sequence[ContactRequest]) -> list[Written]:
    """Each request with how it was sent."""
    known = services().deliveries.of([found.id for found in requests])
    return [(found, known.get(found.id, [])) for found in requests]


def words() -> dict[str, object]:
    """What the templates call states and ways."""
    return {"states": STATES, "channels": CHANNELS}
