"""The mail server that e-mails leave by. The only module that speaks SMTP."""

import smtplib
import socket
import ssl
import unicodedata
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from email.errors import MessageError
from email.headerregistry import Address
from email.message import EmailMessage
from email.policy import SMTP
from email.utils import format_datetime, parseaddr
from ipaddress import ip_address
from typing import Any
from urllib.parse import unquote, urlsplit

from crawler.errors import FetchError, Refused
from crawler.fetching.addresses import AddressGuard
from server.contact.channel import ContactMessage, NotDelivered
from server.domain.answer import Message
from server.domain.contact import ContactOptions, ContactRequest, Reply
from server.domain.site import Site

PORTS = {"smtp": 587, "smtps": 465}


class MailServer:
    """Safe to use from many threads: each letter has a connection of its own."""

    def __init__(self, url: str, timeout_s: float, guard: AddressGuard) -> None:
        """`url` as in SMTP_URL. Certificates are verified; passwords never travel unencrypted, unless the
        server is this machine or the address ends in ?tls=off."""
        parts = urlsplit(url)
        self.host = parts.hostname or ""
        self.port = parts.port or PORTS[parts.scheme]
        self._user = unquote(parts.username or "")
        self._password = unquote(parts.password or "")
        self._is_tls_from_start = parts.scheme == "smtps"
        self._needs_tls = parts.query != "tls=off" and not _is_here(self.host)
        self._timeout_s = timeout_s
        self._guard = guard

    def send(self, mail: EmailMessage) -> str:
        """Hands `mail` over; returns what to note. Raises NotDelivered."""
        with self._session() as server:
            server.send_message(mail)
        return f"{self.host}:{self.port} took it"

    def check(self) -> str:
        """Logs in and sends nothing; returns what to note. Raises NotDelivered."""
        with self._session() as server:
            server.noop()
        return f"{self.host}:{self.port} answers"

    @contextmanager
    def _session(self) -> Iterator[smtplib.SMTP]:
        try:
            server = self._connect()
            try:
                if self._user:
                    server.login(self._user, self._password)
                yield server
                # What was taken is taken, however the parting goes.
                with suppress(smtplib.SMTPException, OSError):
                    server.quit()
            finally:
                server.close()
        except Refused as error:
            advice = "; an owner can add it to the private hosts under Settings" * error.can_be_allowed
            raise NotDelivered(f"{self.host}:{self.port} is not used: {error}{advice}") from error
        except (smtplib.SMTPException, FetchError, OSError, ValueError) as error:
            raise NotDelivered(f"{self.host}:{self.port} {_said(error)}") from error

    def _connect(self) -> smtplib.SMTP:
        context = ssl.create_default_context()
        if self._is_tls_from_start:
            return _GuardedTlsSmtp(
                self._guard, self.host, self.port, timeout=self._timeout_s, context=context
            )
        server = _GuardedSmtp(self._guard, self.host, self.port, timeout=self._timeout_s)
        try:
            if self._needs_tls:
                server.starttls(context=context)
        except smtplib.SMTPNotSupportedError:
            server.close()
            raise NotDelivered(
                f"{self.host}:{self.port} offers no STARTTLS: use smtps://, or end SMTP_URL in ?tls=off for "
                "a mail server in your own network"
            ) from None
        except BaseException:
            server.close()
            raise
        return server


class _GuardedSmtp(smtplib.SMTP):
    """Connects to addresses that `guard` permits."""

    def __init__(self, guard: AddressGuard, *arguments: Any, **options: Any) -> None:
        self._guard = guard
        super().__init__(*arguments, **options)

    def _get_socket(self, host: str, port: int, timeout: float) -> socket.socket:
        return self._guard.connect(host, port, timeout, is_web=False)


class _GuardedTlsSmtp(smtplib.SMTP_SSL, _GuardedSmtp):
    """The same with TLS from the start."""

    def __init__(self, guard: AddressGuard, *arguments: Any, **options: Any) -> None:
        self._guard = guard
        super().__init__(*arguments, **options)


def _is_here(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _said(error: Exception) -> str:
    """What went wrong, without what the operator keeps secret."""
    if isinstance(error, smtplib.SMTPAuthenticationError):
        return f"refused the user or the password of SMTP_URL ({error.smtp_code})"
    if isinstance(error, smtplib.SMTPRecipientsRefused):
        code, text = next(iter(error.recipients.values()))
        return f"refused the recipient: {code} {_text(text)}"
    if isinstance(error, smtplib.SMTPResponseException):
        return f"answered {error.smtp_code} {_text(error.smtp_error)}"
    if isinstance(error, TimeoutError):
        return "did not answer in time"
    if isinstance(error, ConnectionRefusedError):
        return "cannot be reached (connection refused)"
    return f"failed: {_text(str(error)) or type(error).__name__}"


def _text(said: bytes | str) -> str:
    text = said.decode("utf-8", "replace") if isinstance(said, bytes) else said
    return " ".join(text.split())[:300]


RULE = "-" * 60


def letter(parcel: ContactMessage, sender: str, recipient: str) -> EmailMessage:
    """The e-mail. Raises NotDelivered when an address of the operator's is none."""
    request = parcel.request
    name, address = parseaddr(sender)
    subject = one_line(f"{parcel.title}: message from a visitor ({request.reference})")
    mail = _mail(address_of(address, name), recipient, subject, _answer_to(request.email), request)
    mail["X-Docent-Reference"] = request.reference
    mail.set_content(_letter_text(parcel), cte="quoted-printable")
    return mail


def reply_mail(site: Site, request: ContactRequest, reply: Reply, sender: str) -> EmailMessage:
    """Return the e-mail in plain text, with the message it replies to quoted below. Raises NotDelivered for
    an invalid address."""
    title = one_line(site.title or site.name)
    name, address = parseaddr(sender)
    own = ContactOptions.of(site.options).email
    subject = f"Re: {title} ({request.reference})"
    reply_to = address_of(own) if own else None
    mail = _mail(address_of(address, name or title), request.email, subject, reply_to, reply)
    quoted = "\n".join(f"> {line}" for line in request.message.splitlines())
    wrote = f"{request.at:%Y-%m-%d %H:%M} UTC, {one_line(request.email)} wrote:"
    text = f"{reply.text.strip()}\n\n{wrote}\n{quoted}\n"
    mail.set_content("".join(map(printable, text)), cte="quoted-printable")
    return mail


def _mail(
    sender: Address, recipient: str, subject: str, reply_to: Address | None, sent: ContactRequest | Reply
) -> EmailMessage:
    mail = EmailMessage(policy=SMTP)
    mail["From"] = sender
    mail["To"] = address_of(recipient)
    if reply_to:
        mail["Reply-To"] = reply_to
    mail["Subject"] = subject
    mail["Date"] = format_datetime(sent.at)
    # The same at each try, so that one that arrives twice is known for it.
    mail["Message-ID"] = f"<{sent.id}@{sender.domain}>"
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


def _letter_text(parcel: ContactMessage) -> str:
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


def _conversation(parcel: ContactMessage) -> Iterator[str]:
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
