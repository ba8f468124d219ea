"""Searches vectors in Chroma, with one collection per site, kind and embedder, in cosine space."""

from __future__ import annotations

import re
import shutil
import sqlite3
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from pathlib import Path
from queue import Empty, Full, LifoQueue
from typing import Any, TypeVar, cast
from urllib.parse import urlsplit

import chromadb
import httpx
import orjson
from chromadb.api.client import Client
from chromadb.api.collection_configuration import CreateCollectionConfiguration, CreateHNSWConfiguration
from chromadb.api.models.Collection import Collection
from chromadb.config import Settings
from chromadb.errors import ChromaError, NotFoundError

from server.domain.addresses import without_user
from server.domain.chunk import Chunk
from server.domain.protocols import Vector
from server.indexes.errors import IndexRejected, IndexUnavailable
from server.indexes.vector_copies import Page, VectorCopies

IDLE_CONNECTIONS = 32
TIMEOUT_S = 10.0


class UnknownCollection(Exception):
    """The collection does not exist, because another process dropped it."""


class ChromaQueries:
    """Queries to a Chroma server. Thread-safe; `base` is scheme://host:port."""

    def __init__(self, base: str) -> None:
        self._base = base
        self._parts = urlsplit(base)
        self._idle: LifoQueue[HTTPConnection] = LifoQueue(IDLE_CONNECTIONS)

    def begin_nearest(
        self, collection_id: str, vector: Sequence[float], limit: int
    ) -> Callable[[], tuple[list[str], list[float]]]:
        """Send a query; the returned function waits for ids and distances, nearest first. Both raise
        IndexFailure, and the returned function UnknownCollection."""
        path = f"/api/v2/tenants/default_tenant/databases/default_database/collections/{collection_id}/query"
        values = vector.tolist() if hasattr(vector, "tolist") else list(vector)
        body = orjson.dumps({"query_embeddings": [values], "n_results": limit, "include": ["distances"]})
        sent = self._sent(path, body)

        def nearest() -> tuple[list[str], list[float]]:
            try:
                status, text = self._received(sent)
            except IndexUnavailable as error:
                if not isinstance(error.__cause__, ConnectionError):
                    raise
                # The server has closed a connection that was idle, and probably the others.
                self.close()
                status, text = self._received(self._sent(path, body))
            if status == 404:
                raise UnknownCollection(collection_id)
            if status != 200:
                kind = IndexUnavailable if status >= 500 else IndexRejected
                raise kind(f"Chroma at {self._base} answered {status}: {text[:200]}")
            found = orjson.loads(text)
            return found["ids"][0], found["distances"][0]

        return nearest

    def close(self) -> None:
        """Close the idle connections."""
        with suppress(Empty):
            while True:
                self._idle.get_nowait().close()

    def _sent(self, path: str, body: bytes) -> HTTPConnection:
        """Send on an idle connection, or on a new one."""
        with suppress(Empty, IndexUnavailable):
            return self._send(self._idle.get_nowait(), path, body)
        kind = HTTPSConnection if self._parts.scheme == "https" else HTTPConnection
        connection = kind(self._parts.hostname or "", self._parts.port, timeout=TIMEOUT_S)
        return self._send(connection, path, body)

    def _send(self, connection: HTTPConnection, path: str, body: bytes) -> HTTPConnection:
        with self._explained(connection):
            connection.request("POST", path, body, {"Content-Type": "application/json"})
        return connection

    def _received(self, connection: HTTPConnection) -> tuple[int, str]:
        with self._explained(connection):
            response = connection.getresponse()
            status, text = response.status, response.read().decode()
        if response.will_close:
            connection.close()
        else:
            try:
                self._idle.put_nowait(connection)
            except Full:
                connection.close()
        return status, text

    @contextmanager
    def _explained(self, connection: HTTPConnection) -> Iterator[None]:
        try:
            yield
        except (OSError, HTTPException) as error:
            connection.close()
            raise IndexUnavailable(unreachable(self._base, error)) from error


def unreachable(base: str, error: Exception) -> str:
    """Return the operator's message for a Chroma server that does not answer."""
    reason = str(error) or type(error).__name__
    shown = without_user(base)
    return f"Chroma at {shown} does not answer ({reason}): check CHROMA_URL and that the server runs"


HNSW = CreateHNSWConfiguration(
    space="cosine", ef_construction=200, max_neighbors=24, ef_search=200, batch_size=1, sync_threshold=1
)
"""Recall@20 against exact search is at least 0.99, as measured by benchmarks/indexing.py. Every change is
written to the index's files: Chroma forgets what it has not written when it closes an index (see
CHROMA_OPEN_INDEXES)."""
BATCH_FLOATS = 500_000
"""Numbers in one request: about 10 MB of JSON, a quarter of the server's limit."""
IDS_PAGE = 100_000
"""Ids in one answer: 4 MB. Chroma counts up to the first of a page, so that many pages would take long."""
VECTORS_PAGE = 500
COPIED_AT_ONCE = 150
"""Vectors read and written again at once, of up to 3,072 numbers each."""
REMOVED, FEWEST_REMOVED = "removed", 1000
"""Chroma keeps the space of removed vectors in memory and on disk. A collection counts them in its metadata.
When FEWEST_REMOVED or more are removed, and more than are left, the rest is copied to a new collection. A
collection that an older version made with other options of HNSW is copied at its first removal."""

T = TypeVar("T")


@dataclass(frozen=True, eq=False)
class Chroma:
    """A Chroma server or folder, shared by all indexes of a process. Thread-safe."""

    client: Client
    place: str
    queries: ChromaQueries | None
    copies: VectorCopies | None
    folder: Path | None
    """Where Chroma keeps its files, if they are on this machine."""

    def note_change(self, name: str) -> None:
        """Mark copies of a collection as outdated after it has changed. Raises StorageError."""
        if self.copies is not None:
            self.copies.note_change(name)

    def drop_site(self, site_id: str) -> None:
        """Remove a site's vectors of every kind and embedder. Raises IndexUnavailable."""
        with self.explained():
            names = [collection.name for collection in self.client.list_collections()]
        for name in names:
            # A name is SITE.KIND.FINGERPRINT, and site ids contain no dots.
            if name.partition(".")[0] == site_id:
                self.drop(name)
                self.note_change(name)

    def drop(self, name: str) -> None:
        """Remove a collection, if there is one, and its files. Raises IndexUnavailable."""
        with suppress(NotFoundError), self.explained():
            self.client.delete_collection(name)
            if self.folder is not None:
                _remove_dropped(self.folder)

    def ping(self) -> None:
        """Raise IndexUnavailable if Chroma does not answer."""
        with self.explained():
            self.client.heartbeat()

    def close(self) -> None:
        """Close connections and files. Its indexes cannot be used afterwards."""
        if self.queries is not None:
            self.queries.close()
        # Chroma's own close() leaves the connections of its two HTTP sessions open.
        for owner in (self.client, getattr(self.client, "_admin_client", None)):
            session = getattr(getattr(owner, "_server", None), "_session", None)
            if session is not None:
                session.close()
        self.client.close()

    @contextmanager
    def explained(self) -> Iterator[None]:
        """Turn Chroma's errors into one line for the operator, except NotFoundError."""
        try:
            yield
        except NotFoundError:
            raise
        except httpx.TransportError as error:
            raise IndexUnavailable(unreachable(self.place, error)) from error
        except ChromaError as error:
            kind = IndexUnavailable if error.code() >= 500 else IndexRejected
            raise kind(f"Chroma at {without_user(self.place)} refused: {_first_line(error)}") from error


def open_chroma(place: str | Path, copies: VectorCopies | None = None, folder: Path | None = None) -> Chroma:
    """Open the Chroma server at an http(s) address, or a folder, which is created if missing. If `copies`
    are given, small indexes are searched in them. `folder` is that of a server on this machine.

    Only one process may open a folder: the caller must take its lock first.
    Raises IndexUnavailable.
    """
    # Otherwise Chroma would read .env, which is Docent's file.
    settings = Settings(_env_file=None, anonymized_telemetry=False)  # type: ignore[call-arg]
    address = str(place)
    try:
        if not re.match(r"^https?://", address):
            Path(address).mkdir(parents=True, exist_ok=True)
            embedded = cast(Client, chromadb.PersistentClient(address, settings=settings))
            return Chroma(embedded, address, None, copies, Path(address))
        parts = urlsplit(address)
        ssl = parts.scheme == "https"
        port = parts.port or (443 if ssl else 80)
        client = chromadb.HttpClient(parts.hostname or "", port, ssl=ssl, settings=settings)
        return Chroma(cast(Client, client), address, ChromaQueries(address.rstrip("/")), copies, folder)
    except (ValueError, OSError, httpx.TransportError, ChromaError) as error:
        if isinstance(error, OSError) or not re.match(r"^https?://", address):
            raise IndexUnavailable(
                f"the vector folder {address} cannot be opened ({_first_line(error)}): check that this user "
                "may write to it; move it away and crawl again if it is damaged"
            ) from error
        raise IndexUnavailable(unreachable(address, RuntimeError(_first_line(error)))) from error


class ChromaVectorIndex:
    """Implements VectorIndex for one site, one kind of text and one embedder.

    The first `add` creates the collection, and its handle is kept. If another process dropped or
    recreated the collection, the next call finds the new one.
    """

    def __init__(self, chroma: Chroma, site_id: str, fingerprint: str, kind: str = "chunks") -> None:
        if not re.fullmatch(r"[a-z0-9][a-z0-9-]{0,99}", site_id):
            raise ValueError(f"site id {site_id!r}: only lower-case letters, digits and hyphens")
        self._chroma = chroma
        self._site_id = site_id
        self.name = f"{site_id}.{kind}.{fingerprint[:16]}"
        self._handle: Collection | None = None
        self._opening = threading.Lock()

    def add(self, chunks: Sequence[Chunk], vectors: Sequence[Vector]) -> None:
        """Store or replace vectors by chunk id. Raises IndexUnavailable, IndexRejected."""
        records = {chunk.id: (chunk, vector) for chunk, vector in zip(chunks, vectors, strict=True)}
        size = self._batch_size(len(vectors[0])) if records else 1
        items = list(records.items())
        for start in range(0, len(items), size):
            self._upsert(items[start : start + size])
        self._chroma.note_change(self.name)

    def remove(self, ids: Sequence[str]) -> None:
        """Remove these chunks. Unknown ids are ignored."""
        self._end_move()
        size = self._batch_size(1)
        for start in range(0, len(ids), size):
            self._with_handle(partial(Collection.delete, ids=list(ids[start : start + size])), None)
        if ids:
            self._with_handle(partial(self._count_removed, count=len(ids)), None)
        self._chroma.note_change(self.name)

    def search(self, vector: Vector, limit: int) -> list[tuple[str, float]]:
        """Return at most `limit` (chunk id, 1 - cosine distance), best first; [] without an index."""
        return self.begin_search(vector, limit)()

    def begin_search(self, vector: Vector, limit: int) -> Callable[[], list[tuple[str, float]]]:
        """Start `search`; the returned function waits for its result. A Chroma server works meanwhile."""
        if limit < 1:
            return list
        if self._chroma.copies is not None:
            # Only shell commands open a folder, and they end before a copy would be used.
            read = self._pages if self._chroma.queries is not None else None
            copied = self._chroma.copies.search(self.name, vector, limit, read)
            if copied is not None:
                return lambda: copied
        queries, handle = self._chroma.queries, self._handle
        if queries is None or handle is None:
            return partial(self._search, vector, limit)
        begun = queries.begin_nearest(str(handle.id), vector, limit)

        def found() -> list[tuple[str, float]]:
            try:
                return _hits(*begun())
            except UnknownCollection:
                return self._search(vector, limit)

        return found

    def _search(self, vector: Vector, limit: int) -> list[tuple[str, float]]:
        none: tuple[list[str], list[float]] = ([], [])
        return _hits(*self._with_handle(lambda handle: self._nearest(handle, vector, limit), none))

    def ids(self) -> set[str]:
        """Return the ids of all chunks in the index."""
        self._end_move()
        return self._with_handle(_all_ids, set())

    def vectors(self, ids: Sequence[str]) -> dict[str, Vector]:
        """Return the stored vectors of these chunks, by chunk id."""
        found: dict[str, Vector] = {}
        none: dict[str, Vector] = {}
        for start in range(0, len(ids), VECTORS_PAGE):
            wanted = list(ids[start : start + VECTORS_PAGE])
            found |= self._with_handle(partial(_stored, ids=wanted), none)
        return found

    def drop(self) -> None:
        """Remove the whole index. Adding afterwards starts a new one."""
        self._handle = None
        for name in (self.name, *self._spares):
            self._chroma.drop(name)
        self._chroma.note_change(self.name)

    @property
    def _spares(self) -> tuple[str, str]:
        """Names of the new and of the old collection while vectors move."""
        return f"{self.name}.new", f"{self.name}.old"

    def _count_removed(self, handle: Collection, count: int) -> None:
        removed = int(str((handle.metadata or {}).get(REMOVED, 0))) + count
        options = handle.configuration_json.get("hnsw") or {}
        is_older = options.get("sync_threshold") != HNSW["sync_threshold"]
        if is_older or removed > max(FEWEST_REMOVED, handle.count()):
            self._move(handle)
        else:
            handle.modify(metadata={REMOVED: removed})

    def _move(self, old: Collection) -> None:
        """Move the vectors to a new collection. Other processes search the old one until it is deleted."""
        client, (spare, left) = self._chroma.client, self._spares
        self._handle = None  # if this fails, what has the name then is found again
        for name in (spare, left):  # of an attempt that was cut off
            self._chroma.drop(name)
        new = client.create_collection(
            spare, configuration=CreateCollectionConfiguration(hnsw=HNSW), embedding_function=None
        )
        for offset in range(0, old.count(), COPIED_AT_ONCE):
            got = old.get(include=["embeddings", "metadatas"], limit=COPIED_AT_ONCE, offset=offset)
            new.add(got["ids"], embeddings=got["embeddings"], metadatas=got["metadatas"])
        old.modify(name=left)
        new.modify(name=self.name)
        self._handle = new
        self._chroma.drop(left)

    def _end_move(self) -> None:
        """Take the old collection again if a move was cut off between its two renames."""
        client = self._chroma.client
        with self._chroma.explained():
            try:
                client.get_collection(self.name, embedding_function=None)
            except NotFoundError:
                with suppress(NotFoundError):
                    client.get_collection(self._spares[1], embedding_function=None).modify(name=self.name)

    def _pages(self) -> Iterator[Page]:
        """Yield all ids with their vectors in batches. Raises IndexFailure."""
        offset = 0
        page = partial(Collection.get, include=["embeddings"], limit=VECTORS_PAGE)
        while (got := self._with_handle(partial(page, offset=offset), None)) and got["ids"]:
            yield got["ids"], cast(Sequence[Vector], got["embeddings"])
            offset += len(got["ids"])

    def _upsert(self, items: Sequence[tuple[str, tuple[Chunk, Vector]]]) -> None:
        arguments: dict[str, Any] = {
            "ids": [chunk_id for chunk_id, _ in items],
            "embeddings": [vector for _, (_, vector) in items],
            "metadatas": [{"url": chunk.url, "site": self._site_id} for _, (chunk, _) in items],
        }
        with self._chroma.explained():
            try:
                self._opened(make=True).upsert(**arguments)
            except NotFoundError:
                self._handle = None
                self._opened(make=True).upsert(**arguments)

    def _nearest(self, handle: Collection, vector: Vector, limit: int) -> tuple[list[str], list[float]]:
        if self._chroma.queries is not None:
            return self._chroma.queries.begin_nearest(str(handle.id), vector, limit)()
        found = handle.query(query_embeddings=[vector], n_results=limit, include=["distances"])
        return found["ids"][0], list((found["distances"] or [[]])[0])

    def _with_handle(self, use: Callable[[Collection], T], missing: T) -> T:
        """Return `use(handle)`, reopening a stale handle once; `missing` without a collection."""
        with self._chroma.explained():
            for _ in range(2):
                try:
                    return use(self._opened(make=False))
                except (NotFoundError, UnknownCollection):
                    self._handle = None
        return missing

    def _opened(self, *, make: bool) -> Collection:
        handle = self._handle
        if handle is not None:
            return handle
        with self._opening:
            if make:
                self._end_move()
                self._handle = self._chroma.client.get_or_create_collection(
                    self.name,
                    configuration=CreateCollectionConfiguration(hnsw=HNSW),
                    embedding_function=None,
                )
            else:
                self._handle = self._chroma.client.get_collection(self.name, embedding_function=None)
            return self._handle

    def _batch_size(self, dimensions: int) -> int:
        with self._chroma.explained():
            most = self._chroma.client.get_max_batch_size()
        return max(1, min(most, BATCH_FLOATS // dimensions))


def _hits(ids: Sequence[str], distances: Sequence[float]) -> list[tuple[str, float]]:
    return [(chunk_id, 1.0 - distance) for chunk_id, distance in zip(ids, distances, strict=True)]


def _remove_dropped(folder: Path) -> None:
    """Remove the files of collections that were dropped: Chroma leaves them."""
    database = folder / "chroma.sqlite3"
    if not database.is_file():
        return
    # Chroma notes a collection's segments before it makes their folders.
    folders = [path for path in folder.iterdir() if path.is_dir()]
    with suppress(sqlite3.Error), closing(sqlite3.connect(f"file:{database}?mode=ro", uri=True)) as opened:
        kept = {row[0] for row in opened.execute("SELECT id FROM segments")}
        for path in folders:
            if path.name not in kept and re.fullmatch(r"[0-9a-f-]{36}", path.name):
                shutil.rmtree(path, ignore_errors=True)


def _all_ids(handle: Collection) -> set[str]:
    found: set[str] = set()
    for offset in range(0, handle.count(), IDS_PAGE):
        found.update(handle.get(include=[], limit=IDS_PAGE, offset=offset)["ids"])
    return found


def _stored(handle: Collection, ids: list[str]) -> dict[str, Vector]:
    got = handle.get(ids=ids, include=["embeddings"])
    vectors = got["embeddings"]
    if vectors is None:
        return {}
    return {
        chunk_id: [float(x) for x in vector] for chunk_id, vector in zip(got["ids"], vectors, strict=True)
    }


def _first_line(error: Exception) -> str:
    return (str(error).strip() or type(error).__name__).splitlines()[0][:300]
