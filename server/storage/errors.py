"""What can go wrong with what is stored. Every message is one line that says what to do.

StorageError               the store itself fails: unreachable, damaged, full, busy, not writable
├── UnknownSite            no site has this id
├── SiteExists             the id of a new site is taken
├── UnknownConversation    a message of a conversation that was never started, or was erased
├── UnknownMessage         feedback on a message that the visitor never got
├── UnknownCrawl           no crawl has this number
├── WrongState             a crawl cannot be paused, resumed or stopped as it is
├── UnknownPage            no page of the site has this address
├── UnknownSource          no source of the site has this id
├── UnknownCuratedAnswer   no curated answer of the site has this number
├── UnknownContactRequest  no message to people has this id
├── UnknownTestSet         no test set, or question of one, has this number on the site
├── UnknownGap             no gap has this id
├── UnknownRun             no run of a test set has this number on the site
├── SourceTooLarge         the sources of a site would take more than they may
├── TooManyPins            as many pages of a site are pinned as may be
├── OperatorExists         the e-mail address of a new operator is taken
├── UnknownWebhook         no webhook has this id
├── LastOwner              the only owner would be no owner any more
├── SealBroken             a secret was sealed with another SECRET_KEY
└── BadBackup              what is to be restored is no whole backup of a version that is known
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


class UnknownPage(StorageError):
    """No page of the site has this address."""


class UnknownSource(StorageError):
    """No source of the site has this id."""


class UnknownCuratedAnswer(StorageError):
    """No curated answer of the site has this number."""


class UnknownContactRequest(StorageError):
    """No message to people has this id."""


class UnknownTestSet(StorageError):
    """No test set of the site, or no question of the set, has this number."""


class UnknownGap(StorageError):
    """No gap has this id."""


class UnknownRun(StorageError):
    """No run of a test set has this number on the site."""


class UnknownPlaygroundRun(StorageError):
    """No run of the playground has this id, or it was removed after its time."""


class SourceTooLarge(StorageError):
    """The sources of a site would take more than they may; the message names the setting."""


class TooManyPins(StorageError):
    """As many pages of a site are pinned as may be; the message says how many."""


class OperatorExists(StorageError):
    """The e-mail address of a new operator is taken."""


class UnknownWebhook(StorageError):
    """No webhook has this id."""


class LastOwner(StorageError):
    """The only owner would be no owner any more."""


class SealBroken(StorageError):
    """A secret was sealed with another SECRET_KEY."""


class BadBackup(StorageError):
    """What is to be restored is damaged, not complete, or of another version; nothing was changed."""
