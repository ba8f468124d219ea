"""What the processes say: one line of text per event, on standard output."""

import logging
import sys

FORMAT = "%(asctime)s %(levelname)-7s %(name)s: %(message)s"
DATE = "%Y-%m-%d %H:%M:%S"
CHATTY = ("chromadb", "httpx", "httpcore", "openai", "langchain", "urllib3", "alembic", "huey", "werkzeug")
"""Libraries that would log every call at our own level."""


def configure_logging(level: str) -> None:
    """Sends lines of `level` (debug, info, warning, error) and above to standard output."""
    handler = logging.StreamHandler(sys.stdout)
    handler.setFormatter(logging.Formatter(FORMAT, datefmt=DATE))
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(level.upper())
    quiet = logging.DEBUG if level == "debug" else logging.WARNING
    for name in CHATTY:
        logging.getLogger(name).setLevel(quiet)
