"""What can go wrong with an index. Every message is one line that says what to do.

IndexFailure             an index did not do what it was asked to
├── IndexUnavailable     its server or folder cannot be reached now; trying again later can help
└── IndexRejected        it took the request as wrong; trying again cannot help
"""

from __future__ import annotations


class IndexFailure(Exception):
    """An index did not do what it was asked to. The message is fit for the operator."""


class IndexUnavailable(IndexFailure):
    """The index's server or folder cannot be reached now."""


class IndexRejected(IndexFailure):
    """The index took the request as wrong, such as vectors of another length."""
