"""Small vector indexes are searched in a copy that all processes share, and never in an outdated one."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from server.indexes import vector_copies
from server.indexes.vector_copies import VectorCopies
from server.storage.database import Database

VECTORS = {"north": [0.0, 1.0], "east": [2.0, 0.0], "north-east": [1.0, 1.0]}


def read() -> Iterator[tuple[list[str], list[list[float]]]]:
    """Give the vectors in two pages, as Chroma does."""
    items = list(VECTORS.items())
    for some in (items[:2], items[2:]):
        yield [id for id, _ in some], [vector for _, vector in some]


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    opened = Database(f"sqlite:///{tmp_path / 'docent.sqlite3'}")
    yield opened
    opened.close()


@pytest.fixture(autouse=True)
def _no_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vector_copies, "SETTLED_S", 0.0)


def copied(copies: VectorCopies, limit: int = 3) -> list[tuple[str, float]] | None:
    """Search until there is a copy, five seconds at most."""
    end = time.monotonic() + 5
    while (found := copies.search("shop", [0.0, 3.0], limit, read)) is None and time.monotonic() < end:
        time.sleep(0.01)
    return found


def test_the_copy_gives_cosines_best_first(database: Database, tmp_path: Path) -> None:
    copies = VectorCopies(database, tmp_path / "copies", 10)
    copies.note_change("shop")

    found = copied(copies)

    assert found is not None
    assert [id for id, _ in found] == ["north", "north-east", "east"]
    assert np.allclose([cosine for _, cosine in found], [1.0, 0.5**0.5, 0.0], atol=1e-6)
    assert copied(copies, limit=1) == found[:1]


def test_nothing_is_copied_before_the_first_change(database: Database, tmp_path: Path) -> None:
    copies = VectorCopies(database, tmp_path / "copies", 10)

    assert copies.search("shop", [0.0, 1.0], 3, read) is None
    assert not (tmp_path / "copies").exists()


def test_another_process_uses_the_same_file(database: Database, tmp_path: Path) -> None:
    first = VectorCopies(database, tmp_path / "copies", 10)
    first.note_change("shop")
    known = copied(first)

    assert VectorCopies(database, tmp_path / "copies", 10).search("shop", [0.0, 3.0], 3, None) == known


def test_an_index_that_is_dropped_while_it_is_read_is_not_copied(database: Database, tmp_path: Path) -> None:
    copies = VectorCopies(database, tmp_path / "copies", 10)
    copies.note_change("shop")
    pages: list[str] = []

    def dropped() -> Iterator[tuple[list[str], list[list[float]]]]:
        pages.append("read")
        yield ["north", "east"], []  # the vectors were gone when they were asked for

    end = time.monotonic() + 5
    while len(pages) < 2 and time.monotonic() < end:
        assert copies.search("shop", [0.0, 3.0], 3, dropped) is None
        time.sleep(0.01)
    assert len(pages) >= 2, "it is tried again"
    assert copied(copies) is not None


def test_a_change_makes_the_copies_of_all_processes_outdated(database: Database, tmp_path: Path) -> None:
    first, second = (VectorCopies(database, tmp_path / "copies", 10) for _ in range(2))
    first.note_change("shop")
    assert copied(first)
    assert copied(second)

    second.note_change("shop")

    assert first.search("shop", [0.0, 1.0], 3, None) is None
    assert copied(second)
    assert len(list((tmp_path / "copies").glob("*.npy"))) == 1


def test_a_copy_of_vectors_that_changed_meanwhile_is_not_kept(database: Database, tmp_path: Path) -> None:
    copies = VectorCopies(database, tmp_path / "copies", 10)
    copies.note_change("shop")

    def interrupted() -> Iterator[tuple[list[str], list[list[float]]]]:
        yield from read()
        copies.note_change("shop")

    assert copies.search("shop", [0.0, 1.0], 3, interrupted) is None
    end = time.monotonic() + 5
    while copies._copying and time.monotonic() < end:
        time.sleep(0.01)

    assert not list((tmp_path / "copies").glob("*.npy"))


def test_larger_collections_are_left_to_chroma(database: Database, tmp_path: Path) -> None:
    copies = VectorCopies(database, tmp_path / "copies", 2)
    copies.note_change("shop")

    assert copies.search("shop", [0.0, 1.0], 3, read) is None
    end = time.monotonic() + 5
    while not list((tmp_path / "copies").glob("*.json")) and time.monotonic() < end:
        time.sleep(0.01)

    assert copies.search("shop", [0.0, 1.0], 3, read) is None
    assert not list((tmp_path / "copies").glob("*.npy"))


def test_a_folder_that_cannot_be_written_leaves_the_search_to_chroma(
    database: Database, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "copies").write_text("a file where the folder should be")
    copies = VectorCopies(database, tmp_path / "copies", 10)
    copies.note_change("shop")

    assert copies.search("shop", [0.0, 1.0], 3, read) is None
    end = time.monotonic() + 5
    while copies._copying and time.monotonic() < end:
        time.sleep(0.01)

    assert "Chroma is asked instead" in caplog.text
    assert copies.search("shop", [0.0, 1.0], 3, read) is None
