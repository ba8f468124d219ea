"""What reading one file may cost: a hostile one must not cost more than a large one."""

from __future__ import annotations

from dataclasses import dataclass

MEGABYTE = 1024 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class FileLimits:
    """For PDF and DOCX."""

    pages: int = 1000
    """Of a PDF; the rest is left out, and the extraction says so."""
    seconds: float = 120.0
    """To read one file; a file that takes longer is an error."""
    unpacked_bytes: int = 100 * MEGABYTE
    """Of what is packed in one file, altogether."""
