"""One conversation with how each answer was made, what visitors wrote to people, and whether it arrived."""

from collections.abc import Sequence
from dataclasses import dataclass

from flask import redirect, render_template, request, url_for
from flask.typing import ResponseReturnValue
from wtforms import TextAreaField
from wtforms.validators import StopValidation

from admin.conversations import conversations as conversations_page
from admin.forms import UNPROCESSABLE, Form, required
from admin.lists import Listing, chosen_days, chosen_site, chosen_state, listed
from admin.page import Page
from admin.people.sessions import operator_email
from admin.replies import changed, done, refused, unchanged
from admin.texts import _, lazy, ngettext
from server.api.access import (
    configuration,
    database,
    delivery,
    dialogue,
    engine,
    quality_stores,
    shared,
    stores,
)
from server.contact.messages import resting
from server.domain.answer import Conversation
from server.domain.contact import Channel, ContactOptions, ContactRequest, Delivery, Reply
from server.domain.roles import Role
from server.storage.conversations.feedback import LONGEST as LONGEST_LABEL
from server.storage.conversations.feedback import MOST, FeedbackStore
from server.storage.conversations.history import erase_visitor
from server.storage.delivery.contact import reply_deliveries
from server.storage.errors import UnknownRecord

LONGEST = 10_000
"""Letters of a reply."""


class ReplyForm(Form):
    """What the visitor reads."""

    text = required(
        lazy("Your reply"), lazy("Write a reply to the visitor."),
        LONGEST, lazy("Keep to 10,000 characters."), TextAreaField,
    )  # fmt: skip

    def validate_text(self, field: TextAreaField) -> None:
        """Without a mail server nothing can be sent."""
        if not configuration().settings.contact.smtp_url:
            raise StopValidation(_("No mail server is set up. An owner can set one up under Settings."))


page = Page(under=conversations_page.page, help="contact")

ROWS = 30
CHANNELS = {Channel.EMAIL: lazy("E-mail"), Channel.WEBHOOK: lazy("Webhook")}


@dataclass(frozen=True, slots=True)
class Written:
    """What a visitor wrote, how it was sent to people, and what they answered."""

    request: ContactRequest
    deliveries: list[Delivery[Channel]]
    replies: list[tuple[Reply, list[Delivery[Channel]]]]


@page.get("/messages")
def messages() -> ResponseReturnValue:
    """Filtered by `site`, `state` and `days`; what is not known counts as no filter."""
    sites, site_id, site_ids = chosen_site()
    state = chosen_state()
    days, since = chosen_days()
    found = listed(
        lambda limit, offset: delivery().contact.recent(
            site_ids=site_ids, state=state, since=since, limit=limit, offset=offset
        ),
        ROWS,
    )
    return render_template(
        "admin/messages.html",
        written=Listing(with_deliveries(found.rows), found.number, found.more),
        sites=sites,
        site_id=site_id,
        state=state,
        total=delivery().contact.total(site_ids=site_ids, state=state, since=since),
        days=days,
        is_filtered=bool(site_id or state or since),
        takes_messages=any(ContactOptions.of(site.options).on for site in sites.values()),
    )


@page.get("/messages/<request_id>")
def message(request_id: str) -> ResponseReturnValue:
    return shown_message(delivery().contact.get(request_id), ReplyForm(formdata=None))


@page.post("/messages/<request_id>/again")
def message_again(request_id: str) -> ResponseReturnValue:
    """Sends a message on every way of its site on which it did not arrive; on all when it did on each."""
    found = delivery().contact.get(request_id)
    channels = ContactOptions.of(stores().sites.get(found.site_id).options).channels
    if not channels:
        said = _("This site has no address for messages: set an e-mail address or a webhook first.")
        return refused(said, "message")
    if not set(channels) - set(resting(configuration().settings)):
        return refused(_("No mail server is set up. An owner can set one up under Settings."), "message")
    delivery().deliveries.again(request_id, channels)
    return done(_("It is being sent again. Reload this page in a moment to see if it arrived."), "message")


@page.post("/messages/<request_id>/reply")
def message_reply(request_id: str) -> ResponseReturnValue:
    """Stores an answer to the visitor; the worker sends it."""
    found = delivery().contact.get(request_id)
    form = ReplyForm(request.form)
    if not form.validate():
        return shown_message(found, form), UNPROCESSABLE
    delivery().replies.add(request_id, operator_email(), form.text.data.strip())
    changed("replied to a visitor", found.site_id, reference=found.reference)
    said = _("Your reply is on its way. Reload this page in a moment to see if it arrived.")
    return done(said, "message")


@page.post("/messages/<request_id>/replies/<reply_id>/again")
def message_reply_again(request_id: str, reply_id: str) -> ResponseReturnValue:
    """Sends a reply once more."""
    found = delivery().contact.get(request_id)
    reply = delivery().replies.find(reply_id)
    if reply is None or reply.request_id != request_id:
        raise UnknownRecord(f"there is no reply {reply_id!r} to message {found.reference}")
    reply_deliveries(database()).again(reply_id, [Channel.EMAIL])
    changed("sent a reply again", found.site_id, reference=found.reference)
    return done(_("It is being sent again. Reload this page in a moment to see if it arrived."), "message")


def shown_message(found: ContactRequest, form: ReplyForm) -> str:
    """The page of one message with the form to answer it."""
    return render_template(
        "admin/message.html",
        written=with_deliveries([found])[0],
        form=form,
        site=stores().sites.find(found.site_id),
    )


def with_deliveries(requests: Sequence[ContactRequest]) -> list[Written]:
    """Each request with all that belongs to it."""
    known = delivery().deliveries.of([found.id for found in requests])
    replies = delivery().replies.of([found.id for found in requests])
    return [Written(found, known.get(found.id, []), replies.get(found.id, [])) for found in requests]


conversation_page = Page(
    under=conversations_page.page, help="conversations#what-can-i-do-with-a-conversation"
)


class LabelForm(Form):
    """One label."""

    label = required(
        lazy("New label"),
        lazy("Write a word or two, or choose an existing label."),
        LONGEST_LABEL,
        lazy("Keep a label to 40 characters."),
        filters=[lambda text: " ".join((text or "").split())],
    )


@conversation_page.get("/conversations/<conversation_id>")
def conversation(conversation_id: str) -> ResponseReturnValue:
    return _shown(dialogue().conversations.get(conversation_id), LabelForm(formdata=None))


@conversation_page.post("/conversations/<conversation_id>/labels")
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
        said = _("Nothing changed: it has this label already, or it has %(most)s labels.", most=MOST)
        return refused(said, "conversation")
    return redirect(url_for("admin.conversation", conversation_id=conversation_id))


@conversation_page.post("/conversations/<conversation_id>/labels/remove")
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
    return render_template(
        "admin/conversation.html",
        conversation=found,
        feedback=FeedbackStore(database()).of([message.id for message in found.messages]),
        site=stores().sites.find(found.site_id),
        written=with_deliveries(delivery().contact.of_conversation(found.id)),
        form=form,
        labels=labels,
        known_labels=[label for label in store.known([found.site_id]) if label not in labels],
        testsets=quality_stores().testsets.all(found.site_id),
    )


@conversation_page.get("/conversations/<conversation_id>/erase", role=Role.EDITOR)
def visitor_erase(conversation_id: str) -> ResponseReturnValue:
    """What would be gone."""
    found = dialogue().conversations.get(conversation_id)
    return render_template(
        "admin/visitor_erase.html",
        conversation=found,
        site=stores().sites.find(found.site_id),
        said=dialogue().conversations.visitor_data(found.site_id, found.visitor_id),
    )


@conversation_page.post("/conversations/<conversation_id>/erase")
def visitor_erased(conversation_id: str) -> ResponseReturnValue:
    found = dialogue().conversations.get(conversation_id)
    erased = erase_visitor(
        dialogue().conversations, engine().history, shared().cache, found.site_id, found.visitor_id
    )
    # Neither who it was nor which conversation: nothing is to lead back to that person.
    changed("erased a visitor", found.site_id, conversations=erased)
    said = ngettext(
        "%(num)s conversation is erased, with every message to people and every reply.",
        "%(num)s conversations are erased, with every message to people and every reply.",
        erased,
    )
    return done(said, "conversations", site=found.site_id)
