"""What can go wrong, each with a message fit for the operator."""


class CrawlError(Exception):
    """Root of all errors of the crawler."""


class BadStart(CrawlError):
    """The crawl cannot start. The message is one line and says what to do."""


class BadFile(CrawlError):
    """A file or page cannot be read. The message tells the operator why: "it is protected by a password"."""


class FetchError(CrawlError):
    """One URL could not be fetched. `kind`: refused, unreachable, timeout, tls, too_large, too_slow,
    protocol, browser or stopped."""

    def __init__(self, kind: str, message: str, *, retry: bool = False, received: bytes = b"") -> None:
        super().__init__(message)
        self.kind = kind
        self.retry = retry
        self.received = received
        """What came before an answer turned out to be too large."""


class Refused(FetchError):
    """A private, loopback, link-local or otherwise reserved address."""

    def __init__(self, message: str, *, can_be_allowed: bool = False) -> None:
        super().__init__("refused", message)
        self.can_be_allowed = can_be_allowed
        """Whether `allow_private` would permit it."""
