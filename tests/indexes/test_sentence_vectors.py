"""Sentence vectors are stored for each chunk, so that a question embeds one text."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pytest

from server.domain.chunk import Chunk
from server.domain.protocols import EmbeddedText
from server.indexes.sentence_vectors import FILLED_AT_ONCE, SentenceVectors, drop_sentence_vectors


class Counting:
    """An embedder that remembers what it was asked."""

    name, fingerprint, languages = "counting", "0123456789ab", frozenset({"en"})

    def __init__(self):
        self.asked = []

    def embed(self, texts):
        self.asked += texts
        return [[len(text) / 100, 0.6, 0.8] for text in texts]


class CountingTokens(Counting):
    """One that has vectors for tokens: a byte for each word, its length."""

    token_space = "lengths"

    def embed_tokens(self, texts):
        vectors = self.embed(texts)
        return [
            EmbeddedText(vector, bytes(map(len, text.split())))
            for vector, text in zip(vectors, texts, strict=True)
        ]


@pytest.fixture
def database(database):
    for site in ("shop", "other"):  # of an earlier test: the index makes its tables itself
        drop_sentence_vectors(database, site)
    return database


def chunk(name, text, language="en"):
    return Chunk(name, f"https://lantern.example/{name}", "Lamps", (), text, 0, language)


def sentences(one):
    return tuple(part.strip() for part in one.text.split(".") if part.strip())


def stored(database, embedder, site="shop"):
    return SentenceVectors(database, site, embedder, sentences)


def test_what_was_filled_in_is_not_embedded_again(database):
    embedder = Counting()
    stored(database, embedder).fill([chunk("a", "Parcels take two days. Lamps are free.")], lambda: True)
    assert embedder.asked == ["Parcels take two days", "Lamps are free"]
    later = Counting()
    found = stored(database, later).of([chunk("a", "Lamps are free. Parcels take two days.")])
    assert later.asked == []
    assert np.allclose(found["a"].texts, [[0.14, 0.6, 0.8], [0.21, 0.6, 0.8]], atol=1e-3)
    assert found["a"].tokens is None


def test_an_older_index_is_filled_in_when_a_question_needs_it(database):
    embedder = Counting()
    vectors = stored(database, embedder)
    for _ in range(2):
        found = vectors.of([chunk("a", "One."), chunk("b", "One. Two.")])
        assert {name: len(rows.texts) for name, rows in found.items()} == {"a": 1, "b": 2}
    vectors.of([chunk("b", "Two. Three.")])
    assert embedder.asked == ["One", "Two", "Three"]


def test_the_tokens_of_a_chunk_with_its_headings_are_stored_too(database):
    lamp, later = chunk("a", "Lamps are free."), CountingTokens()
    stored(database, CountingTokens()).fill([lamp], lambda: True)
    found = stored(database, later).of([lamp])["a"]
    assert found.tokens == bytes([5, 5, 3, 5]), "of Lamps, its heading, and then the text"
    assert later.asked == []


def test_tokens_are_added_to_an_index_that_has_sentences_only(database):
    lamp, newer, later = chunk("a", "Lamps are free."), CountingTokens(), CountingTokens()
    stored(database, Counting()).fill([lamp], lambda: True)
    assert stored(database, newer).fill([lamp], lambda: True) == 1
    assert newer.asked == [lamp.indexed_text], "its sentence is known"
    assert stored(database, later).fill([lamp], lambda: True) == 0


def test_tokens_of_an_earlier_text_are_not_used(database):
    stored(database, CountingTokens()).fill([chunk("a", "Lamps are free.")], lambda: True)
    found = stored(database, CountingTokens()).of([chunk("a", "Lamps cost a lot.")])["a"]
    assert found.tokens == bytes([5, 5, 4, 1, 4])


@pytest.mark.parametrize("embedder", [Counting, CountingTokens])
def test_a_text_that_changed_is_embedded_once_more_and_not_with_every_question(database, embedder):
    stored(database, embedder()).fill([chunk("a", "One. Two.")], lambda: True)
    stored(database, embedder()).of([chunk("a", "One. Three.")])
    later = embedder()
    found = stored(database, later).of([chunk("a", "One. Three.")])["a"]
    assert later.asked == []
    assert len(found.texts) == 2


def test_a_new_title_is_among_the_tokens_after_the_next_crawl(database):
    old, later = chunk("a", "Lamps are free."), CountingTokens()
    new = replace(old, title="Lanterns")
    stored(database, CountingTokens()).fill([old], lambda: True)
    assert stored(database, CountingTokens()).fill([new], lambda: True) == 1
    assert stored(database, later).fill([new], lambda: True) == 0
    assert stored(database, later).of([new])["a"].tokens[0] == len("Lanterns")
    assert later.asked == []


def test_tokens_of_another_space_are_not_compared(database):
    lamp, newer = chunk("a", "Lamps are free."), CountingTokens()
    stored(database, CountingTokens()).fill([lamp], lambda: True)
    newer.token_space = "other lengths"
    assert stored(database, newer).fill([lamp], lambda: True) == 1
    assert newer.asked == [lamp.indexed_text]


def test_an_empty_section_has_no_tokens(database):
    empty = Chunk("a", "https://lantern.example/a", "", (), "", 0, "en")
    for _ in range(2):
        found = stored(database, CountingTokens()).of([empty])["a"]
        assert (len(found.texts), len(found.tokens)) == (0, 0)


@pytest.mark.parametrize(
    ("embedder", "text", "language"),
    [(Counting(), "Lampen sind frei.", "de"), (CountingTokens(), "Лампы горят.", "ru")],
)
def test_a_language_that_nothing_is_compared_in_costs_nothing(database, embedder, text, language):
    stored(database, embedder).fill([chunk("a", text, language)], lambda: True)
    assert embedder.asked == []


def test_of_a_language_with_the_letters_of_one_that_is_read_tokens_are_stored(database):
    lamp = chunk("a", "Lampen sind frei.", "de")
    stored(database, CountingTokens()).fill([lamp], lambda: True)
    again, reading = CountingTokens(), CountingTokens()
    assert stored(database, again).of([lamp], sentences=False)["a"].tokens
    assert again.asked == []
    for _ in range(2):  # of a question in a language that is read
        assert len(stored(database, reading).of([lamp])["a"].texts) == 1
        assert stored(database, again).of([lamp], sentences=False)["a"].tokens
    assert reading.asked == ["Lampen sind frei", lamp.indexed_text]
    assert stored(database, again).fill([lamp], lambda: True) == 0
    assert again.asked == []


def test_what_a_question_stored_of_a_removed_chunk_goes_with_the_next_crawl(database):
    lamp, brass = chunk("a", "Lamps are free."), chunk("b", "Brass shines.")
    vectors = stored(database, Counting())
    vectors.fill([lamp, brass], lambda: True)
    vectors.remove(["a"])
    vectors.of([lamp])  # by a question that had found it before
    vectors.fill([brass], lambda: False)
    later = Counting()
    stored(database, later).of([lamp, brass])
    assert later.asked == [], "a crawl that is cut off removes nothing"
    vectors.fill([brass], lambda: True)
    stored(database, later).of([lamp, brass])
    assert later.asked == ["Lamps are free"]


def test_filling_in_goes_on_where_it_was_cut_off(database):
    embedder, rest = Counting(), Counting()
    chunks = [chunk(str(number), f"Sentence {number}.") for number in range(FILLED_AT_ONCE + 3)]
    once = iter((True, False))
    assert stored(database, embedder).fill(chunks, lambda: next(once)) == FILLED_AT_ONCE
    assert stored(database, rest).fill(chunks, lambda: True) == 3
    assert len(embedder.asked) == FILLED_AT_ONCE
    assert rest.asked == [f"Sentence {number}" for number in range(FILLED_AT_ONCE, FILLED_AT_ONCE + 3)]


def test_vectors_go_with_their_chunks_and_with_their_site(database):
    embedder = Counting()
    for site in ("shop", "other"):
        stored(database, embedder, site).fill([chunk("a", "One."), chunk("b", "Two.")], lambda: True)
    stored(database, embedder).remove(["a", "unknown"])
    drop_sentence_vectors(database, "other")
    embedder.asked.clear()
    stored(database, embedder).of([chunk("a", "One."), chunk("b", "Two.")])
    stored(database, embedder, "other").of([chunk("b", "Two.")])
    assert embedder.asked == ["One", "Two"]


def test_questions_about_the_same_sections_do_not_block_each_other(database):
    chunks = [chunk(str(number), f"Sentence {number}.") for number in range(16)]
    vectors = stored(database, CountingTokens())
    with ThreadPoolExecutor(8) as pool:
        for _ in range(20):
            vectors.remove([one.id for one in chunks])
            orders = [chunks, chunks[::-1]] * 4
            assert all(len(found) == 16 for found in pool.map(vectors.of, orders))
