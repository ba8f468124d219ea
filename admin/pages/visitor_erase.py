"""Erases all that one visitor said on a site, on a page that asks first."""

from __future__ import annotations

from flask import flash, redirect, render_template, url_for
from flask.typing import ResponseReturnValue

from admin.access import services
from admin.audit import changed
from admin.page import Page
from admin.pages import conversations as conversations_page
from server.domain.roles import Role
from server.services.erasing import erase_visitor

page = Page(under=conversations_page.page)


@page.get("/conversations/<conversation_id>/erase", role=Role.EDITOR)
def visitor_erase(conversation_id: str) -> ResponseReturnValue:
    """What would be gone."""
    found = services().conversations.get(conversation_id)
    return render_template(
        "admin/visitor_erase.html",
        conversation=found,
        site=services().sites.find(found.site_id),
        said=services().conversations.said_by(found.site_id, found.visitor_id),
    )


@page.post("/conversations/<conversation_id>/erase")
def visitor_erased(conversation_id: str) -> ResponseReturnValue:
    found = services().conversations.get(conversation_id)
    erased = erase_visitor(services().conversations, services().history, found.site_id, found.visitor_id)
    # Neither who it was nor which conversation: nothing is to lead back to that person.
    changed("erased a visitor", found.site_id, conversations=erased)
    many = f"{erased} conversations are" if erased != 1 else "One conversation is"
    flash(f"{many} erased, with every message to people and every reply.", "done")
    return redirect(url_for("admin.conversations", site=found.site_id))
