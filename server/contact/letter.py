"""A visitor's message as an e-mail: plain text, to be answered by pressing Reply."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from email.errors import MessageError
from email.headerregistry import Address
from email.message import EmailMessage
from email.policy import SMTP
from email.utils import format_datetime, parseaddr

from server.contact.errors import NotDelivered
from server.contact.parcel import Parcel
from server.domain.conversation import Message

RULE = "-" * 60


def letter(parcel: Parcel, sender: str, recipient: str) -> EmailMessage:
    """The e-mail. Raises NotDelivered when an address of the operator's is none."""
    request = parcel.request
    mail = EmailMessage(policy=SMTP)
    name, address = parseaddr(sender)
    mail["From"] = address_of(address, name)
    mail["To"] = address_of(recipient)
    if answer_to := _answer_to(request.email):
        mail["Reply-To"] = answer_to
    mail["Subject"] = one_line(f"{parcel.title}: message from a visitor ({request.reference})")
    mail["Date"] = format_datetime(request.at)
    # The same at each try, so that one that arrives twice is known for it.
    mail["Message-ID"] = f"<{request.id}@{address_of(address).domain}>"
    mail["X-Docent-Reference"] = request.reference
    mail.set_content(_text(parcel), cte="quoted-printable")
    return mail


def address_of(text: str, name: str = "") -> Address:
    """For a header. Raises NotDelivered."""
    try:
        return Address(one_line(name), addr_spec=text)
    except (ValueError, IndexError, MessageError):
        raise NotDelivered(f"{text!r} is no e-mail address: correct it in the site's settings") from None


def _answer_to(email: str) -> Address | None:
    """None for what fits into no header that every server takes, such as other letters before the @: the
    text names it all the same."""
    try:
        return Address(addr_spec=email) if email.isascii() else None
    except (ValueError, IndexError, MessageError):
        return None


def _text(parcel: Parcel) -> str:
    request = parcel.request
    email = one_line(request.email)
    answers = "Reply to this e-mail, and it" if _answer_to(request.email) else "Your answer"
    lines = [
        f"{email} wrote to {parcel.title}:",
        "",
        request.message,
        "",
        RULE,
        f"{answers} goes to {email}.",
        f"Reference: {request.reference}",
        f"Written: {request.at:%Y-%m-%d %H:%M} UTC",
        f"In the dashboard: {parcel.page}",
        *_conversation(parcel),
    ]
    return "".join(map(printable, "\n".join(lines))) + "\n"


def _conversation(parcel: Parcel) -> Iterator[str]:
    if not parcel.messages:
        return
    yield from (RULE, "The conversation before it:")
    if parcel.left_out:
        yield f"({parcel.left_out} earlier questions are in the dashboard only.)"
    for message in parcel.messages:
        yield from ("", *_turn(message))


def _turn(message: Message) -> Iterator[str]:
    answer = message.answer
    yield f"Visitor, {message.asked_at:%H:%M} UTC: {message.question}"
    yield ""
    yield f"Docent ({answer.outcome.value}): {answer.text}"
    for citation in answer.citations:
        yield f"[{citation.number}] {one_line(citation.title or citation.url)}: {citation.link}"
    for url, title in answer.pages:
        if not answer.citations and url not in answer.text:
            yield f"Offered: {one_line(title)}: {url}"


def one_line(text: str) -> str:
    """For a header: no line ends, no control characters."""
    return " ".join("".join(map(printable, text)).split())


def printable(letter: str) -> str:
    """Control characters can do harm in terminals and headers, and mean nothing."""
    return letter if letter in "\n\t" or unicodedata.category(letter) not in ("Cc", "Cs") else " "
