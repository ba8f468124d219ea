"""Which entries of foreign zip archives are read."""

from zipfile import ZIP_DEFLATED, ZIP_STORED, ZipInfo


def is_bounded(entry: ZipInfo) -> bool:
    """Return whether unpacking can stop at a limit. Python unpacks BZIP2 and LZMA whole before it hands over
    the first byte, and 800 bytes of BZIP2 can hold a gigabyte."""
    return entry.compress_type in (ZIP_STORED, ZIP_DEFLATED)
