"""The mail server that e-mails leave by. The only module that speaks SMTP."""

from __future__ import annotations

import smtplib
import ssl
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from email.message import EmailMessage
from ipaddress import ip_address
from urllib.parse import unquote, urlsplit

from server.contact.errors import NotDelivered

PORTS = {"smtp": 587, "smtps": 465}


class MailServer:
    """Safe to use from many threads: each letter has a connection of its own."""

    def __init__(self, url: str, timeout_s: float) -> None:
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
        except (smtplib.SMTPException, OSError, ValueError) as error:
            raise NotDelivered(f"{self.host}:{self.port} {_said(error)}") from error

    def _connect(self) -> smtplib.SMTP:
        context = ssl.create_default_context()
        if self._is_tls_from_start:
            return smtplib.SMTP_SSL(self.host, self.port, timeout=self._timeout_s, context=context)
        server = smtplib.SMTP(self.host, self.port, timeout=self._timeout_s)
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
