"""E-mails to operators."""

import logging
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from email.message import EmailMessage
from email.policy import SMTP
from email.utils import formatdate, make_msgid

from server.api.access import configuration
from server.contact.channel import NotDelivered
from server.contact.mail import MailServer
from server.guards.network import for_mail
from server.settings import Settings
from server.storage.errors import StorageError
from server.storage.people.operators import LinkKind

log = logging.getLogger(__name__)

INVITED = """You are invited to the dashboard of Docent at {base}.

Open this link to choose your password. It works once, within seven days:

{link}

If you did not expect this e-mail, ignore it.
"""
RESET = """An owner of the Docent at {base} made this link for you.

Open it to choose a new password. It works once, within a day:

{link}

If you did not ask for it, ignore this e-mail: your password stays as it is.
"""
FORGOTTEN = RESET.replace(
    "An owner of the Docent at {base} made this link for you.",
    """\
Somebody asked for a new password for your account at the Docent at {base}.""",
)
NOTICE = """{what}

Account   {email}
Docent    {base}
Time      {at:%Y-%m-%d %H:%M} UTC
Address   {address}
Browser   {browser}

If that was you, there is nothing to do. If not, choose a new password now, which logs out every
other browser, and tell an owner of this Docent:

{base}/admin/account
"""

_posting = ThreadPoolExecutor(2, "letters")
"""Nobody waits for a mail server, and how long an answer takes must not tell whether something is sent."""


def send_link(kind: LinkKind, email: str, link: str) -> str:
    """What came of sending a one-time link: empty when no mail server is set."""
    settings = configuration().settings
    if not settings.contact.smtp_url:
        return ""
    subject = "Your invitation to Docent" if kind is LinkKind.INVITE else "A new password for Docent"
    text = INVITED if kind is LinkKind.INVITE else RESET
    try:
        send(settings, email, subject, text.format(base=settings.serving.base_url, link=link))
    except NotDelivered as error:
        return f"It was not sent by e-mail: {error}. Hand it over yourself."
    return f"It was sent to {email} too."


def send_forgotten(email: str, make_link: Callable[[], str]) -> None:
    """Send a link for a new password, later. `make_link` returns "" if nothing is to be sent."""
    settings = configuration().settings

    def text() -> str:
        link = make_link()
        return FORGOTTEN.format(base=settings.serving.base_url, link=link) if link else ""

    _posting.submit(_post, settings, email, "A new password for Docent", text)


def send_notice(email: str, what: str, address: str, browser: str) -> None:
    """Tell a person, later, what happened to the account. Nothing is sent when no mail server is set."""
    settings = configuration().settings
    if settings.contact.smtp_url:
        base, at = settings.serving.base_url, datetime.now(UTC)
        text = NOTICE.format(what=what, email=email, base=base, at=at, address=address, browser=browser)
        _posting.submit(
            _post, settings, email, f"Docent: {what[0].lower()}{what[1:].rstrip('.')}", lambda: text
        )


def _post(settings: Settings, to: str, subject: str, text: Callable[[], str]) -> None:
    try:
        if body := text():
            send(settings, to, subject, body)
    except (NotDelivered, StorageError) as error:
        log.warning("a letter to an operator was not sent: %s", error)


def send(settings: Settings, to: str, subject: str, text: str, html: str = "") -> str:
    """Sends a letter now, not by the outbox, for its link must not be kept. `html` says the same as `text`.
    Raises NotDelivered."""
    mail = EmailMessage(policy=SMTP)
    try:
        mail["From"], mail["To"], mail["Subject"] = settings.contact.mail_from, to, subject
    except ValueError as error:
        raise NotDelivered(f"an address is none: {error}") from None
    mail["Date"], mail["Message-ID"] = formatdate(), make_msgid(domain="docent.invalid")
    mail.set_content(text, cte="quoted-printable")
    if html:
        mail.add_alternative(html, subtype="html", cte="quoted-printable")
    server = MailServer(settings.contact.smtp_url, min(settings.contact.timeout_s, 20.0), for_mail(settings))
    return server.send(mail)
