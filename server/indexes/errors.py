"""Errors of an index. Every message is one line that says what to do.

IndexFailure             a request to an index failed
├── IndexUnavailable     its server or folder cannot be reached; trying again later can help
└── IndexRejected        it rejected the request as invalid; trying again cannot help
"""


class IndexFailure(Exception):
    """A request to an index failed. The message may be shown to the operator."""


class IndexUnavailable(IndexFailure):
    """The index's server or folder cannot be reached."""


class IndexRejected(IndexFailure):
    """The index rejected the request as invalid, for example because of the vectors' length."""
