"""E-mails to operators."""

import logging
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from email.message import EmailMessage
from email.policy import SMTP
from email.utils import formatdate, make_msgid

from flask import request

from admin.formats import browser
from admin.texts import _, language, lazy, written_in
from server.api.access import configuration, people_stores
from server.contact.channel import NotDelivered
from server.contact.mail import MailServer
from server.guards.network import for_mail
from server.settings import Settings
from server.storage.errors import StorageError
from server.storage.people.operators import LinkKind

log = logging.getLogger(__name__)

INVITED = lazy("""You are invited to the dashboard of Docent at %(base)s.

Open this link to choose your password. It works once, within seven days:

%(link)s

If you did not expect this e-mail, ignore it.
""")
RESET = lazy("""An owner of the Docent at %(base)s made this link for you.

Open it to choose a new password. It works once, within a day:

%(link)s

If you did not ask for it, ignore this e-mail: your password stays as it is.
""")
FORGOTTEN = lazy("""Someone asked for a new password for your account at the Docent at %(base)s.

Open this link to choose a new password. It works once, within a day:

%(link)s

If you did not ask for it, ignore this e-mail: your password stays as it is.
""")
NOTICE = lazy("""%(what)s

Account: %(email)s
Docent: %(base)s
Time: %(time)s UTC
Address: %(address)s
Browser: %(browser)s

If that was you, there is nothing to do. If not, choose a new password now, which logs out every
other browser, and tell an owner of this Docent:

%(base)s/admin/account
""")
INVITATION, NEW_PASSWORD = lazy("Your invitation to Docent"), lazy("A new password for Docent")

_posting = ThreadPoolExecutor(2, "letters")
"""Nobody waits for a mail server, and how long an answer takes must not tell whether something is sent."""


def send_link(kind: LinkKind, email: str, link: str) -> str:
    """What came of sending a one-time link: empty when no mail server is set."""
    settings = configuration().settings
    if not settings.contact.smtp_url:
        return ""
    subject, text = (INVITATION, INVITED) if kind is LinkKind.INVITE else (NEW_PASSWORD, RESET)
    try:
        with written_in(_language_of(email)):
            send(settings, email, str(subject), text % {"base": settings.serving.base_url, "link": link})
    except NotDelivered as error:
        return _("It was not sent by e-mail: %(error)s. Send it yourself.", error=error)
    return _("It was also sent to %(email)s.", email=email)


def send_forgotten(email: str, make_link: Callable[[], str]) -> None:
    """Send a link for a new password, later. `make_link` returns "" if nothing is to be sent."""
    settings, code = configuration().settings, _language_of(email)

    def letter() -> tuple[str, str]:
        link = make_link()
        with written_in(code):
            text = FORGOTTEN % {"base": settings.serving.base_url, "link": link}
            return str(NEW_PASSWORD), text if link else ""

    _posting.submit(_post, settings, email, letter)


def tell(email: str, what: str) -> None:
    """Send the person an e-mail, later, about what this request did to the account, where a mail server is
    set; `what` is lazy. The audit log has it in any case, and the page of the account shows it from there."""
    settings = configuration().settings
    if settings.contact.smtp_url:
        with written_in(_language_of(email)):
            subject = f"Docent: {str(what).rstrip('.')}"
            text = NOTICE % {
                "what": what,
                "email": email,
                "base": settings.serving.base_url,
                "time": f"{datetime.now(UTC):%Y-%m-%d %H:%M}",
                "address": request.remote_addr or "unknown",
                "browser": browser(request.headers.get("User-Agent", "")),
            }
        _posting.submit(_post, settings, email, lambda: (subject, text))


def _language_of(email: str) -> str:
    """The language of the person's dashboard; the one of this request for a person without an account."""
    operator = people_stores().operators.find(email)
    return (operator.language if operator else "") or language()


def _post(settings: Settings, to: str, letter: Callable[[], tuple[str, str]]) -> None:
    try:
        subject, body = letter()
        if body:
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
        raise NotDelivered(f"an e-mail address is not valid: {error}") from None
    mail["Date"], mail["Message-ID"] = formatdate(), make_msgid(domain="docent.invalid")
    mail.set_content(text, cte="quoted-printable")
    if html:
        mail.add_alternative(html, subtype="html", cte="quoted-printable")
    server = MailServer(settings.contact.smtp_url, min(settings.contact.timeout_s, 20.0), for_mail(settings))
    return server.send(mail)
