"""What a process keeps of a site's word index between two questions."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import Connection

from server.indexes.postings import Floats, Lengths, Numbers
from server.indexes.word_reads import read_lengths, read_pieces

MOST_KEPT = 1_000_000
"""Postings kept at most: 12 MB."""

Revisions = tuple[tuple[int, int], ...]


class Snapshot:
    """One state of the index, known by its `revisions`: lengths, and postings that were asked for.

    Threads share it: at worst two of them read the same postings.
    """

    def __init__(self, connection: Connection, site_id: str) -> None:
        self.revisions, lengths = read_lengths(connection, site_id)
        self.lengths = Lengths(lengths)
        self._site_id = site_id
        self._postings: dict[str, tuple[Numbers, Floats]] = {}
        self._kept = 0

    def postings(self, connection: Connection, tokens: Sequence[str]) -> dict[str, tuple[Numbers, Floats]]:
        """Places and weights of the living chunks that hold each of these tokens."""
        found = {token: self._postings[token] for token in tokens if token in self._postings}
        unknown = [token for token in tokens if token not in found]
        if unknown:
            pieces = read_pieces(connection, self._site_id, self.lengths.blocks, unknown)
            read = {token: self.lengths.postings(pieces.get(token, ())) for token in unknown}
            self._keep(read)
            found |= read
        return found

    def _keep(self, read: dict[str, tuple[Numbers, Floats]]) -> None:
        size = sum(len(places) + 1 for places, _ in read.values())
        if self._kept + size > MOST_KEPT:
            self._postings, self._kept = {}, 0
        if size <= MOST_KEPT:
            self._postings.update(read)
            self._kept += size
