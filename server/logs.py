"""What the processes say: one line per event, on standard output, as text or as JSON.

Each request has an id. It is in every JSON line about the request, and goes along with the jobs that the
request queues and the calls of models that it makes.
"""

import json
import logging
import re
import sys
from contextvars import ContextVar
from datetime import UTC, datetime
from uuid import uuid4

FORMAT = "%(asctime)s %(levelname)-7s %(name)s: %(message)s"
DATE = "%Y-%m-%d %H:%M:%S"
CONTINUED = "  > > "
"""Begins each further line of a record."""
CHATTY = (
    "chromadb", "httpx", "httpcore", "httpx2", "httpcore2", "openai", "langchain", "urllib3",
    "alembic", "huey", "werkzeug", "opentelemetry",
)  # fmt: skip
"""Libraries that would log every call at our own level."""
_ID = re.compile(r"[A-Za-z0-9._-]{1,64}")

request_id: ContextVar[str] = ContextVar("request_id", default="")
"""Id of the request that this thread works for; empty outside of one."""


def known_or_new_id(given: str) -> str:
    """Return `given` if it is short and harmless, else a new id."""
    return given if _ID.fullmatch(given) else uuid4().hex


class TextLines(logging.Formatter):
    """Writes a record as text. Only its first line looks like one, whatever a caller or a website wrote into
    the others: fail2ban would believe them."""

    def __init__(self) -> None:
        super().__init__(FORMAT, DATE)

    def format(self, record: logging.LogRecord) -> str:
        """Return the line, and the lines of a traceback below it."""
        return f"\n{CONTINUED}".join(super().format(record).splitlines())


class JsonLines(logging.Formatter):
    """Writes a record as one JSON object. `extra={"fields": {...}}` adds fields."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line."""
        at = datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")
        line: dict[str, object] = {
            "time": at,
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
            "process": record.process,
            **getattr(record, "fields", {}),
        }
        if known := request_id.get():
            line["request_id"] = known
        if record.exc_info:
            line["exception"] = self.formatException(record.exc_info)
        return json.dumps(line)


def json_line(text: str, logger: str) -> str:
    """Return a line of a process that may write plain text, such as Chroma, as a line of JSON."""
    if text.startswith("{"):
        try:
            json.loads(text)
        except ValueError:
            pass
        else:
            return text
    return JsonLines().format(logging.LogRecord(logger, logging.INFO, "", 0, "%s", (text,), None))


def configure_logging(level: str, form: str = "text") -> None:
    """Sends lines of `level` (debug, info, warning, error) and above to standard output. `form` is text or
    json."""
    handler = logging.StreamHandler(sys.stdout)
    handler.setFormatter(JsonLines() if form == "json" else TextLines())
    logging.captureWarnings(form == "json")
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(level.upper())
    quiet = logging.DEBUG if level == "debug" else logging.WARNING
    for name in CHATTY:
        logging.getLogger(name).setLevel(quiet)
