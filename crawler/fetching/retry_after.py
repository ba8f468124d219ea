"""How long a server asks its clients to wait."""

import re
import time
from email.utils import parsedate_to_datetime


def retry_after_s(header: str) -> float | None:
    """Return the seconds that a Retry-After header (a number or a date) asks for; None for anything else."""
    text = header.strip()
    if re.fullmatch(r"[0-9]{1,12}(\.[0-9]+)?", text):
        return float(text)
    try:
        return max(0.0, parsedate_to_datetime(text).timestamp() - time.time())
    except (ValueError, TypeError, OverflowError):
        return None
