"""What the vector index promises: in a folder, on a Chroma server, and with copies searched in the process."""

import threading
from contextlib import nullcontext

import numpy as np
import pytest
from chromadb.api.models.Collection import Collection
from chromadb.errors import InternalError

from server.domain.chunk import Chunk
from server.indexes import vector_copies
from server.indexes.errors import IndexRejected, IndexUnavailable
from server.indexes.vector_copies import VectorCopies
from server.indexes.vectors import ChromaVectorIndex, open_chroma
from server.storage.database import Database
from tests.servers import chroma_server

SIZE = 16


def chunk(id):
    return Chunk(id, f"https://shop.example/{id}", "", (), id, 0)


def unit(*numbers):
    vector = np.zeros(SIZE, np.float32)
    vector[: len(numbers)] = numbers
    return vector / np.linalg.norm(vector)


@pytest.fixture(scope="module", params=["folder", "server", "copies"])
def chroma(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp("vectors")
    place = folder if request.param == "folder" else request.getfixturevalue("chroma_url")
    copies = None
    if request.param == "copies":
        copies = VectorCopies(Database(f"sqlite:///{folder / 'docent.sqlite3'}"), folder / "copies", 1000)
        vector_copies.SETTLED_S, settled = 0.0, vector_copies.SETTLED_S
    opened = open_chroma(place, copies)
    yield opened
    opened.close()
    if copies:
        vector_copies.SETTLED_S = settled


@pytest.fixture
def vectors(chroma):
    index = ChromaVectorIndex(chroma, "shop", "0123456789abcdef")
    yield index
    index.drop()


def ids(hits):
    return [chunk_id for chunk_id, _ in hits]


def test_an_index_that_was_never_filled_finds_nothing(vectors):
    assert vectors.search(unit(1), 5) == []
    assert vectors.ids() == set()


def test_the_nearest_comes_first_with_its_cosine(vectors):
    vectors.add([chunk("near"), chunk("far"), chunk("opposite")], [unit(1, 0.1), unit(1, 2), unit(-1)])
    hits = vectors.search(unit(1), 5)
    assert ids(hits) == ["near", "far", "opposite"]
    assert [score for _, score in hits] == pytest.approx([0.99504, 0.44721, -1.0], abs=1e-4)


def test_no_more_than_the_limit_comes_back(vectors):
    vectors.add([chunk("a"), chunk("b")], [unit(1), unit(0, 1)])
    assert ids(vectors.search(unit(1, 0.5), 1)) == ["a"]
    assert vectors.search(unit(1), 0) == []


def test_plain_lists_are_vectors_too(vectors):
    vectors.add([chunk("a")], [unit(1).tolist()])
    assert vectors.search(unit(1).tolist(), 1) == [("a", pytest.approx(1.0))]


def test_adding_a_chunk_again_replaces_it(vectors):
    vectors.add([chunk("a"), chunk("b")], [unit(1), unit(0, 1)])
    vectors.add([chunk("a")], [unit(0, 0, 1)])
    assert vectors.ids() == {"a", "b"}
    assert vectors.search(unit(0, 0, 1), 1) == [("a", pytest.approx(1.0))]


def test_the_same_id_twice_in_one_call_keeps_the_last(vectors):
    vectors.add([chunk("a"), chunk("a")], [unit(1), unit(0, 1)])
    assert vectors.search(unit(0, 1), 5) == [("a", pytest.approx(1.0))]


def test_a_removed_chunk_is_not_found(vectors):
    vectors.add([chunk("a"), chunk("b")], [unit(1), unit(0, 1)])
    vectors.remove(["a", "never-heard-of"])
    assert ids(vectors.search(unit(1), 5)) == ["b"]
    assert vectors.ids() == {"b"}


def test_nothing_to_add_or_remove_is_no_error(vectors):
    vectors.add([], [])
    vectors.remove([])
    vectors.remove(["from an index that was never made"])
    assert vectors.ids() == set()


def test_chunks_and_vectors_must_be_as_many(vectors):
    with pytest.raises(ValueError, match="shorter"):
        vectors.add([chunk("a"), chunk("b")], [unit(1)])


def test_a_vector_of_another_length_is_rejected_in_one_line(vectors):
    vectors.add([chunk("a")], [unit(1)])
    with pytest.raises(IndexRejected) as error:
        vectors.add([chunk("b")], [[1.0, 0.0]])
    assert "\n" not in str(error.value)
    with pytest.raises(IndexRejected):
        vectors.search([1.0, 0.0], 1)


def test_more_than_one_batch_is_stored_and_removed(vectors, monkeypatch):
    monkeypatch.setattr("server.indexes.vectors.BATCH_FLOATS", 4 * SIZE)
    many = [chunk(f"c{i}") for i in range(130)]
    vectors.add(many, np.random.default_rng(0).normal(size=(130, SIZE)).astype(np.float32))
    assert len(vectors.ids()) == 130
    vectors.remove([c.id for c in many[1:]])
    assert vectors.ids() == {"c0"}


def test_ids_are_read_page_by_page(vectors, monkeypatch):
    monkeypatch.setattr("server.indexes.vectors.IDS_PAGE", 3)
    vectors.add([chunk(f"c{i}") for i in range(8)], [unit(1, i) for i in range(8)])
    assert vectors.ids() == {f"c{i}" for i in range(8)}


def test_sites_embedders_and_kinds_do_not_mix(chroma, vectors):
    others = [
        ChromaVectorIndex(chroma, "garden", "0123456789abcdef"),
        ChromaVectorIndex(chroma, "shop", "fedcba9876543210"),
        ChromaVectorIndex(chroma, "shop", "0123456789abcdef", kind="headings"),
    ]
    vectors.add([chunk("a")], [unit(1)])
    for other in others:
        assert other.search(unit(1), 5) == []
        other.add([chunk("b")], [unit(1)])
        other.drop()
    assert vectors.ids() == {"a"}


def test_a_dropped_index_is_empty_and_can_be_filled_again(vectors):
    vectors.add([chunk("a")], [unit(1)])
    vectors.drop()
    vectors.drop()
    assert vectors.search(unit(1), 5) == []
    vectors.add([chunk("b")], [unit(1)])
    assert vectors.ids() == {"b"}


def test_an_index_dropped_elsewhere_is_found_again(chroma, vectors):
    elsewhere = ChromaVectorIndex(chroma, "shop", "0123456789abcdef")
    vectors.add([chunk("a")], [unit(1)])
    elsewhere.drop()
    assert vectors.search(unit(1), 5) == []
    vectors.add([chunk("b")], [unit(1)])
    elsewhere.drop()
    vectors.add([chunk("c")], [unit(1)])  # its handle is stale: the collection is created again
    assert elsewhere.ids() == vectors.ids() == {"c"}
    elsewhere.drop()
    elsewhere.add([chunk("d")], [unit(1)])
    assert ids(vectors.search(unit(1), 5)) == ["d"]


def test_readers_and_a_writer_work_at_the_same_time(vectors):
    vectors.add([chunk("a")], [unit(1)])
    failures = []

    def read():
        try:
            for _ in range(20):
                assert "a" in ids(vectors.search(unit(1), 5))
        except Exception as error:  # noqa: BLE001  whatever it is, the test reports it
            failures.append(error)

    readers = [threading.Thread(target=read) for _ in range(4)]
    for reader in readers:
        reader.start()
    for i in range(10):
        vectors.add([chunk(f"more{i}")], [unit(0.1, 1, i)])
    for reader in readers:
        reader.join()
    assert failures == []
    assert len(vectors.ids()) == 11


def test_stored_vectors_come_back_by_id(vectors):
    assert vectors.vectors(["a"]) == {}
    vectors.add([chunk("a"), chunk("b")], [unit(1, 0), unit(0, 1)])
    found = vectors.vectors(["b", "a", "unknown"])
    assert {key: [round(x, 5) for x in vector] for key, vector in found.items()} == {
        "a": [round(float(x), 5) for x in unit(1, 0)],
        "b": [round(float(x), 5) for x in unit(0, 1)],
    }
    assert vectors.vectors([]) == {}


def test_removed_vectors_do_not_take_space_for_ever(chroma, vectors, monkeypatch):
    monkeypatch.setattr("server.indexes.vectors.FEWEST_REMOVED", 5)
    monkeypatch.setattr("server.indexes.vectors.COPIED_AT_ONCE", 2)
    elsewhere = ChromaVectorIndex(chroma, "shop", "0123456789abcdef")
    vectors.add([chunk("a"), chunk("b"), chunk("c")], [unit(1), unit(1, 1), unit(0, 1)])
    assert ids(elsewhere.search(unit(1), 5)) == ["a", "b", "c"]
    before = chroma.client.get_collection(vectors.name)
    for number in range(6):
        vectors.add([chunk(f"old-{number}")], [unit(1, 0.5)])
        vectors.remove([f"old-{number}"])
    after = chroma.client.get_collection(vectors.name)
    assert after.id != before.id
    assert after.get("a")["metadatas"] == [{"url": "https://shop.example/a", "site": "shop"}]
    for index in (vectors, elsewhere):
        assert ids(index.search(unit(1), 5)) == ["a", "b", "c"]
        assert index.ids() == {"a", "b", "c"}
    names = [collection.name for collection in chroma.client.list_collections()]
    assert [name for name in names if name.startswith(vectors.name)] == [vectors.name]


def test_a_move_that_was_cut_off_loses_no_vector(chroma, vectors):
    vectors.add([chunk("a"), chunk("b")], [unit(1), unit(0, 1)])
    chroma.client.get_collection(vectors.name).modify(name=f"{vectors.name}.old")
    chroma.client.create_collection(f"{vectors.name}.new")
    after = ChromaVectorIndex(chroma, "shop", "0123456789abcdef")
    assert after.ids() == {"a", "b"}, "else a crawl would embed all of them again"
    after.add([chunk("c")], [unit(1, 1)])
    assert after.ids() == {"a", "b", "c"}


def test_a_move_that_failed_is_made_again_with_the_next_removal(vectors, monkeypatch):
    monkeypatch.setattr("server.indexes.vectors.FEWEST_REMOVED", 1)
    vectors.add([chunk(name) for name in "abcdef"], [unit(1, at) for at in range(6)])
    modify, renamed = Collection.modify, []

    def broken(self, name=None, **changed):
        if name == vectors.name:
            renamed.append(name)
            raise InternalError("the disk is full")
        modify(self, name=name, **changed)

    monkeypatch.setattr(Collection, "modify", broken)
    with pytest.raises(IndexUnavailable, match="disk is full"):
        vectors.remove(["a", "b", "c", "d"])
    assert renamed
    monkeypatch.setattr(Collection, "modify", modify)
    vectors.remove(["e", "never-heard-of", "nor-of-this"])
    assert vectors.ids() == {"f"}
    assert ids(vectors.search(unit(1, 5), 5)) == ["f"]


def test_an_index_of_another_version_moves_with_its_first_removal(tmp_path):
    """Chroma would lose its last changes when it closes it."""
    opened = open_chroma(tmp_path)
    index = ChromaVectorIndex(opened, "shop", "0123456789abcdef")
    opened.client.create_collection(index.name, embedding_function=None)
    index.add([chunk("a"), chunk("b"), chunk("c")], [unit(1, 0), unit(0, 1), unit(1, 1)])
    for removed in ("a", "b"):
        index.remove([removed])
        (collection,) = opened.client.list_collections()
        assert collection.configuration_json["hnsw"]["sync_threshold"] == 1
    assert ids(index.search(unit(1, 0), 5)) == ["c"]
    opened.close()


@pytest.mark.parametrize("kind", ["folder", "server"])
def test_the_files_of_a_dropped_collection_go_too(kind, tmp_path):
    drawn = np.random.default_rng(1).normal(size=(1200, SIZE)).astype(np.float32)
    with chroma_server(tmp_path) if kind == "server" else nullcontext(tmp_path) as place:
        opened = open_chroma(place, folder=tmp_path)
        first, second = (ChromaVectorIndex(opened, site, "0123456789abcdef") for site in ("shop", "harbour"))
        for index in (first, second):
            index.add([chunk(f"c{number}") for number in range(1200)], list(drawn))
        assert len(folders(tmp_path)) == 2
        first.drop()
        (old,) = folders(tmp_path)
        second.remove([f"c{number}" for number in range(1150)])
        (new,) = folders(tmp_path)
        assert new != old
        assert ids(second.search(drawn[1199], 1)) == ["c1199"]
        opened.close()


def folders(place):
    return [path for path in place.iterdir() if path.is_dir()]
