"""What an operator gives as a source: checked before anything is stored, so that it is all or nothing."""

from collections.abc import Sequence
from pathlib import Path

from crawler.errors import BadFile, BadStart
from crawler.options import start_address
from crawler.sources.files import FolderOptions, files_in, is_readable, not_readable, unpack
from crawler.sources.pairs import parse_addresses, parse_pairs
from server.settings import Settings
from server.storage.content.sources import Source, SourceKind, SourceStore

LONGEST_NAME = 200


def source_folders(settings: Settings) -> tuple[Path, ...]:
    """Return the folders below which folders of sites may be."""
    listed = [text.strip() for text in settings.sources.folders.split(",") if text.strip()]
    return tuple(map(Path, listed)) or (settings.storage.data_dir / "uploads",)


def check_folder(folder: Path, permitted: Sequence[Path]) -> Path:
    """Return the path of `folder` without links. Raises BadStart unless it is below a permitted one."""
    place = folder.expanduser().resolve()
    if not any(place.is_relative_to(one.expanduser().resolve()) for one in permitted):
        raise BadStart(f"the folder {place} is not permitted: add it to SOURCES_FOLDERS and restart Docent")
    return place


class SourceIntake:
    """Adds sources to sites. Everything raises BadFile or BadStart with what is wrong, in one line, and
    UnknownSite and SourceTooLarge."""

    def __init__(self, store: SourceStore, settings: Settings) -> None:
        self._store = store
        self._settings = settings

    def add_files(self, site_id: str, files: Sequence[tuple[str, bytes]]) -> list[Source]:
        """(name, bytes) of each; archives are unpacked. A file whose name is known replaces that one."""
        checked: dict[str, bytes] = {}
        left = self._settings.sources.upload_bytes
        for name, body in files:
            found = self._unpacked(name, body, left) if name.lower().endswith(".zip") else {name: body}
            left -= sum(map(len, found.values()))
            if left < 0:
                raise BadFile(
                    f"these files have more than {self._settings.sources.upload_bytes:,} bytes together, "
                    "archives unpacked: send fewer at once"
                )
            checked |= {self._name(inner): data for inner, data in found.items()}
        for name, body in checked.items():
            self._check_file(name, body)
        most = self._settings.sources.site_bytes
        return [
            self._store.put(site_id, SourceKind.FILE, name, body, most_bytes=most)
            for name, body in checked.items()
        ]

    def add_folder(
        self,
        site_id: str,
        folder: Path,
        *,
        base: str = "",
        include: Sequence[str] = (),
        exclude: Sequence[str] = (),
    ) -> Source:
        """A folder of the machine that crawls; it is read again at each refresh."""
        place = check_folder(folder, source_folders(self._settings))
        chosen = FolderOptions(include=tuple(include), exclude=tuple(exclude))
        if all(found.state is not None for found in files_in(place, chosen)):
            raise BadFile(f"there is no HTML, Markdown, text, PDF or DOCX file to read in {place}")
        options: dict[str, object] = {"include": list(include), "exclude": list(exclude)}
        if base:
            options["base"] = start_address(base)
        most = self._settings.sources.site_bytes
        return self._store.put(site_id, SourceKind.FOLDER, str(place), options=options, most_bytes=most)

    def add_addresses(self, site_id: str, name: str, text: str) -> Source:
        """One address a line."""
        addresses = parse_addresses(text)
        return self._put_text(site_id, SourceKind.ADDRESSES, name, "\n".join(addresses))

    def add_pairs(self, site_id: str, name: str, text: str) -> Source:
        """Questions with answers: text, CSV or JSON lines."""
        parse_pairs(text)
        return self._put_text(site_id, SourceKind.PAIRS, name, text)

    def _put_text(self, site_id: str, kind: SourceKind, name: str, text: str) -> Source:
        body = text.encode("utf-8", "replace")
        if len(body) > self._settings.sources.file_bytes:
            raise BadFile(f"it is larger than {self._settings.sources.file_bytes:,} bytes")
        most = self._settings.sources.site_bytes
        return self._store.put(site_id, kind, self._name(name), body, most_bytes=most)

    def _unpacked(self, name: str, body: bytes, most_bytes: int) -> dict[str, bytes]:
        try:
            found = dict(unpack(body, most_bytes))
        except BadFile as error:
            raise BadFile(f"{name}: {error}") from error
        if not found:
            raise BadFile(f"{name}: there is no file in it that can be read")
        return found

    def _check_file(self, name: str, body: bytes) -> None:
        if not is_readable(name):
            raise BadFile(f"{name} is {not_readable(name)}")
        if not body:
            raise BadFile(f"{name} is empty")
        if len(body) > self._settings.sources.file_bytes:
            raise BadFile(f"{name} is larger than {self._settings.sources.file_bytes:,} bytes")

    def _name(self, name: str) -> str:
        clean = " ".join(name.split()).strip("/")
        if not clean or len(clean) > LONGEST_NAME:
            raise BadFile(f"give a name of at most {LONGEST_NAME} characters")
        return clean
