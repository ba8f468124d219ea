"""One conversation: every answer with how it was made, and what may be done about it."""

from __future__ import annotations

from flask import flash, redirect, render_template, request, url_for
from flask.typing import ResponseReturnValue
from markupsafe import Markup
from wtforms import StringField
from wtforms.validators import Length

from admin.audit import changed, unchanged
from admin.conversations import conversations as conversations_page
from admin.conversations.messages import with_deliveries, words
from admin.forms import UNPROCESSABLE, Form, Needed
from admin.page import Page
from admin.people.sessions import operator_email
from admin.replies import done
from server.answering.writing.markup import answer_html
from server.api.access import database, delivery, dialogue, engine, quality_stores, stores
from server.domain.conversation import Conversation
from server.domain.roles import Role
from server.storage.conversations.feedback import LONGEST, MOST, FeedbackStore
from server.storage.conversations.history import erase_visitor

page = Page(under=conversations_page.page)


class LabelForm(Form):
    """One label."""

    label = StringField(
        "New label",
        [
            Needed("Write a word or two, or choose a label that is in use."),
            Length(max=LONGEST, message=f"Keep a label to {LONGEST} characters."),
        ],
        filters=[lambda text: " ".join((text or "").split())],
    )


@page.get("/conversations/<conversation_id>")
def conversation(conversation_id: str) -> ResponseReturnValue:
    return _shown(dialogue().conversations.get(conversation_id), LabelForm(formdata=None))


@page.post("/conversations/<conversation_id>/labels")
def conversation_label(conversation_id: str) -> ResponseReturnValue:
    found = dialogue().conversations.get(conversation_id)
    form = LabelForm(request.form)
    if not form.validate():
        return _shown(found, form), UNPROCESSABLE
    label = form.label.data
    store = dialogue().labels
    if store.add(found.site_id, found.id, label, operator_email()):
        changed("labelled a conversation", found.site_id, conversation=found.id, label=label)
    else:
        unchanged()
        flash(
            f"Nothing changed: the label is on already, or {MOST} are, which is all there may be.", "problem"
        )
    return redirect(url_for("admin.conversation", conversation_id=conversation_id))


@page.post("/conversations/<conversation_id>/labels/remove")
def conversation_unlabel(conversation_id: str) -> ResponseReturnValue:
    found = dialogue().conversations.get(conversation_id)
    label = request.form.get("label", "")
    if dialogue().labels.remove(found.id, label):
        changed("took a label off a conversation", found.site_id, conversation=found.id, label=label)
    else:
        unchanged()
    return redirect(url_for("admin.conversation", conversation_id=conversation_id))


def _shown(found: Conversation, form: LabelForm) -> str:
    store = dialogue().labels
    labels = store.of([found.id]).get(found.id, [])
    judged = FeedbackStore(database()).of([message.id for message in found.messages])
    # answer_html is sanitised: text of visitors, pages and models can do nothing here.
    messages = [
        (message, Markup(answer_html(message.answer)), judged.get(message.id)) for message in found.messages
    ]
    return render_template(
        "admin/conversation.html",
        conversation=found,
        messages=messages,
        site=stores().sites.find(found.site_id),
        written=with_deliveries(delivery().contact.of_conversation(found.id)),
        words=words(),
        form=form,
        labels=labels,
        known_labels=[label for label in store.known([found.site_id]) if label not in labels],
        testsets=quality_stores().testsets.all(found.site_id),
    )


@page.get("/conversations/<conversation_id>/erase", role=Role.EDITOR)
def visitor_erase(conversation_id: str) -> ResponseReturnValue:
    """What would be gone."""
    found = dialogue().conversations.get(conversation_id)
    return render_template(
        "admin/visitor_erase.html",
        conversation=found,
        site=stores().sites.find(found.site_id),
        said=dialogue().conversations.said_by(found.site_id, found.visitor_id),
    )


@page.post("/conversations/<conversation_id>/erase")
def visitor_erased(conversation_id: str) -> ResponseReturnValue:
    found = dialogue().conversations.get(conversation_id)
    erased = erase_visitor(dialogue().conversations, engine().history, found.site_id, found.visitor_id)
    # Neither who it was nor which conversation: nothing is to lead back to that person.
    changed("erased a visitor", found.site_id, conversations=erased)
    many = f"{erased} conversations are" if erased != 1 else "One conversation is"
    return done(
        f"{many} erased, with every message to people and every reply.", "conversations", site=found.site_id
    )
