"""What can go wrong with what is stored. Every message is one line that says what to do.

StorageError               the store itself fails: unreachable, damaged, full, busy, not writable
├── UnknownSite            no site has this id
├── SiteExists             the id of a new site is taken
├── UnknownConversation    a message of a conversation that was never started, or was erased
├── UnknownMessage         feedback on a message that the visitor never got
├── UnknownCrawl           no crawl has this number
├── WrongState             a crawl cannot be paused, resumed or stopped as it is
├── UnknownSource          no source of the site has this id
├── UnknownCuratedAnswer   no curated answer of the site has this number
├── UnknownContactRequest  no message to people has this id
├── SourceTooLarge         the sources of a site would take more than they may
└── OperatorExists         the e-mail address of a new operator is taken
"""

from __future__ import annotations


class StorageError(Exception):
    """Something stored cannot be read or written. The message is fit for the operator."""


class UnknownSite(StorageError):
    """No site has this id; the message lists the known ones."""


class SiteExists(StorageError):
    """The id of a new site is taken."""


class UnknownConversation(StorageError):
    """The conversation was never started, or was erased."""


class UnknownMessage(StorageError):
    """No message has this id, or it is another visitor's."""


class UnknownCrawl(StorageError):
    """No crawl has this number."""


class WrongState(StorageError):
    """A crawl cannot be paused, resumed or stopped as it is; the message says why."""


class UnknownSource(StorageError):
    """No source of the site has this id."""


class UnknownCuratedAnswer(StorageError):
    """No curated answer of the site has this number."""


class UnknownContactRequest(StorageError):
    """No message to people has this id."""


class SourceTooLarge(StorageError):
    """The sources of a site would take more than they may; the message names the setting."""


class OperatorExists(StorageError):
    """The e-mail address of a new operator is taken."""
