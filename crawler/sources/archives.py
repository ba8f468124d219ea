"""The readable files of a zip archive, in memory: nothing is written to disk."""

import zlib
from io import BytesIO
from zipfile import BadZipFile, ZipFile, ZipInfo

from crawler.errors import BadFile
from crawler.sources.files import is_readable

MOST_FILES = 2000
_ENCRYPTED = 0x1


def unpack(body: bytes, max_bytes: int) -> list[tuple[str, bytes]]:
    """(name, bytes) of each file that can be read, in the archive's order.

    Raises BadFile if it is no archive, is protected, or unpacks to more than `max_bytes` altogether.
    """
    try:
        with ZipFile(BytesIO(body)) as archive:
            wanted = [entry for entry in archive.infolist() if _is_wanted(entry)]
            if len(wanted) > MOST_FILES:
                raise BadFile(f"it has {len(wanted):,} files; the limit is {MOST_FILES:,}")
            if sum(entry.file_size for entry in wanted) > max_bytes:
                raise BadFile(f"it unpacks to more than the limit of {max_bytes:,} bytes")
            return _contents(archive, wanted, max_bytes)
    except (BadZipFile, zlib.error, NotImplementedError, ValueError, EOFError, OSError) as error:
        raise BadFile(f"it is damaged or no zip archive ({error})") from error


def _contents(archive: ZipFile, wanted: list[ZipInfo], left: int) -> list[tuple[str, bytes]]:
    found = []
    for entry in wanted:
        if entry.flag_bits & _ENCRYPTED:
            raise BadFile("it is protected by a password")
        with archive.open(entry) as part:
            data = part.read(left + 1)  # the archive may lie about its sizes
        left -= len(data)
        if left < 0:
            raise BadFile("it unpacks to more than the limit")
        found.append((_name(entry), data))
    return found


def _is_wanted(entry: ZipInfo) -> bool:
    parts = _name(entry).split("/")
    hidden = any(part.startswith((".", "__MACOSX")) for part in parts)
    return not entry.is_dir() and not hidden and is_readable(parts[-1])


def _name(entry: ZipInfo) -> str:
    parts = entry.filename.replace("\\", "/").split("/")
    return "/".join(part for part in parts if part not in ("", "..", "."))
