"""What a command shows as one line. Every part's own errors are among them.

DocentError (a tuple of classes, for `except`)
├── StorageError       server/storage/errors.py     something stored cannot be read or written
├── ModelError         server/domain/protocols.py   a model did not do its step
├── IndexFailure       server/indexes/errors.py     the vectors or words cannot be reached
├── CrawlError         crawler/errors.py            a site cannot be crawled at all
├── BadQuestionFile    server/evaluation/questions.py  what an evaluation is to ask cannot be read
├── UnknownName        server/domain/registry.py    a name that no table has
└── StartError         here                         the server cannot start as asked
"""

from crawler.errors import CrawlError
from server.domain.protocols import ModelError
from server.domain.registry import UnknownName
from server.evaluation.questions import BadQuestionFile
from server.indexes.errors import IndexFailure
from server.storage.errors import StorageError


class StartError(Exception):
    """The server or a command cannot start as asked; the message says what to do."""


DocentError = (StorageError, ModelError, IndexFailure, CrawlError, BadQuestionFile, UnknownName, StartError)
