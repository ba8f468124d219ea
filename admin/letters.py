"""E-mails to operators."""

from email.message import EmailMessage
from email.policy import SMTP
from email.utils import formatdate, make_msgid

from server.api.access import configuration
from server.contact.channel import NotDelivered
from server.contact.mail import MailServer
from server.guards.network import for_mail
from server.settings import Settings
from server.storage.people.operators import LinkKind

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


def send(settings: Settings, to: str, subject: str, text: str) -> str:
    """Sends a letter now, not by the outbox, for its link must not be kept. Raises NotDelivered."""
    mail = EmailMessage(policy=SMTP)
    try:
        mail["From"], mail["To"], mail["Subject"] = settings.contact.mail_from, to, subject
    except ValueError as error:
        raise NotDelivered(f"an address is none: {error}") from None
    mail["Date"], mail["Message-ID"] = formatdate(), make_msgid(domain="docent.invalid")
    mail.set_content(text, cte="quoted-printable")
    server = MailServer(settings.contact.smtp_url, min(settings.contact.timeout_s, 20.0), for_mail(settings))
    return server.send(mail)
