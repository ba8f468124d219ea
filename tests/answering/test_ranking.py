"""Sections that answer come first, whatever the search thought of them."""

from dataclasses import replace

import numpy as np
import pytest
from threadpoolctl import ThreadpoolController

from server.answering.grading import EvidenceGrader
from server.answering.ranking import (
    POOL,
    SECTION,
    Comparer,
    SectionRanker,
    compared_by,
    compared_texts,
    section_features,
    token_nearness,
)
from server.domain.chunk import Chunk, ScoredChunk
from server.domain.derived import Calibration
from server.domain.protocols import ModelError, embedded
from server.domain.question import Query
from server.indexes.sentence_vectors import ChunkVectors
from server.runtime.runtime import open_runtime
from server.settings import Settings


def hit(name, text, score, heading="Lamps", language="en", **more):
    chunk = Chunk(name, f"https://lantern.example/{name}", "Lantern Shop", (heading,), text, 0, language)
    return ScoredChunk(chunk, score, **more)


class Vectors:
    """Vectors made on the spot."""

    def __init__(self, embedder):
        self.embedder = embedder

    def of(self, chunks, *, sentences):
        return {chunk.id: self.vectors(chunk) for chunk in chunks}

    def vectors(self, chunk):
        texts = np.asarray(self.embedder.embed(compared_texts(chunk)), np.float32)
        return ChunkVectors(texts, embedded(self.embedder, [chunk.indexed_text])[0].tokens)


class WithoutTokens:
    """An embedder as services have it."""

    def __init__(self, embedder):
        self.embed, self.languages = embedder.embed, embedder.languages


@pytest.fixture
def ranker(shop, embedder):
    return SectionRanker(shop.rarity, Comparer(embedder, Calibration(), Vectors(embedder)))


def names(hits):
    return [found.chunk.id for found in hits]


def test_a_section_that_says_it_in_other_words_passes_one_that_repeats_the_question(ranker):
    vague = hit("vague", "Lamps and more lamps, and money, and lamps.", 0.60)
    says = hit("says", "We refund the full price of a lamp within thirty days.", 0.59, "Refunds")
    assert names(ranker.refine(Query("can I get my money back?", "en"), [vague, says], 10)) == [
        "says",
        "vague",
    ]


def test_an_old_post_does_not_pass_a_page_that_says_about_the_same(ranker):
    said = "We refund the price of a lamp within {} days."
    page = hit("page", said.format("thirty"), 0.6, "Refunds")
    post = hit("post", said.format("ninety"), 0.62, "Refunds")
    old = replace(post, chunk=replace(post.chunk, kind="post", dated="2016-03-01"))
    asked = Query("when do i get a refund for my lamp", "en")
    assert names(ranker.refine(asked, [post, page], 10))[0] == "post"
    assert names(ranker.refine(asked, [old, page], 10))[0] == "page"


def test_a_far_better_score_of_the_search_stays_first(ranker):
    found = [hit("good", "Delivery costs 4.50 EUR.", 0.9, "Delivery"), hit("bad", "Brass shines.", 0.2)]
    assert names(ranker.refine(Query("how much is delivery", "en"), found, 10)) == ["good", "bad"]


def test_scores_stay_between_none_and_the_best_of_the_search_and_name_the_features(ranker):
    found = [hit(str(n), f"Lamp {n} burns oil.", 0.8 - n / 30) for n in range(POOL + 4)]
    ranked = ranker.refine(Query("which lamp burns oil", "en"), found, POOL + 4)
    scores = [one.score for one in ranked]
    assert len(ranked) == POOL + 4
    assert scores == sorted(scores, reverse=True)
    assert 0 <= scores[-1] <= scores[0] == pytest.approx(0.8)
    assert set(SECTION) <= set(ranked[0].scores)


def test_the_sentence_nearest_in_meaning_is_named(ranker):
    found = [hit("a", "Lamps are old. Parcels arrive within two days. Brass is heavy.", 0.5)]
    (ranked,) = ranker.refine(Query("how fast do you ship?", "en"), found, 10)
    assert ranked.sentence == "Parcels arrive within two days."


def test_themes_keep_their_order(ranker):
    found = [hit("b", "Brass.", 0.2, theme="Metals"), hit("a", "Lamps burn oil.", 0.9, theme="Lamps")]
    assert names(ranker.refine(Query("what are the main themes", "en"), found, 10)) == ["b", "a"]


def test_a_question_that_the_embedder_cannot_read_is_ranked_by_its_words(ranker):
    found = [
        hit("a", "Lampen brennen.", 0.5, language="de"),
        hit("b", "Die Lieferung kostet 4,50 EUR.", 0.49, "Lieferung", "de"),
    ]
    ranked = ranker.refine(Query("Was kostet die Lieferung?", "de"), found, 10)
    assert names(ranked) == ["b", "a"]
    assert "sentence_gap" in ranked[0].scores
    assert ranked[0].sentence == ""
    assert compared_by(ranked) == "letters"
    found = [hit("a", "Лампы горят.", 0.5), hit("b", "Доставка стоит 4,50 EUR.", 0.49, "Доставка")]
    assert compared_by(ranker.refine(Query("Сколько стоит доставка?", "ru"), found, 10)) == "words"


def test_a_hit_that_later_steps_made_again_is_still_one_that_was_compared(ranker):
    (ranked,) = ranker.refine(
        Query("how fast do you ship?", "en"), [hit("a", "Parcels arrive soon.", 0.5)], 1
    )
    assert compared_by([replace(ranked, sentence="")]) == "tokens"


def test_of_a_language_whose_letters_the_embedder_knows_only_tokens_are_compared(ranker, shop, embedder):
    found = [
        hit("a", "Die Lampen brennen mit Öl.", 0.5, language="de"),
        hit("b", "Der Fahrstuhl hat eine Kabine.", 0.5, language="de"),
    ]
    query = Query("Was brennt in Öllampen?", "de")
    ranked = ranker.refine(query, found, 10)
    assert names(ranked) == ["a", "b"]
    assert ranked[0].scores["tokens"] > ranked[1].scores["tokens"] > 0
    assert ranked[0].scores["sentence"] == ranked[0].scores["headline"] == 0
    without = SectionRanker(shop.rarity, Comparer(WithoutTokens(embedder), Calibration(), Vectors(embedder)))
    assert compared_by(without.refine(query, found, 10)) == "words"


def test_a_question_that_is_read_is_compared_with_the_sentences_of_every_section(shop, embedder):
    # As in product code, where the sentences of a page in another language are stored with the question.
    ranker = SectionRanker(shop.rarity, Comparer(embedder, Calibration(), shop.sentences))
    query = Query("who is the treasurer Karl Ott", "en")
    german = hit("tresor", "Der Vorstand tagt im Mai.\n\nSchatzmeister ist Karl Ott.", 0.5, "Verein", "de")
    english = hit("brass", "Brass shines for many years.", 0.5)
    for _ in range(2):
        ranked = ranker.refine(query, [english, german], 10)
        assert names(ranked) == ["tresor", "brass"]
        assert ranked[0].sentence == "Schatzmeister ist Karl Ott."
        assert compared_by(ranked[:1]) == "tokens"
        asked_in_german = ranker.refine(Query("Wer ist Schatzmeister?", "de"), [english, german], 10)
        assert not any(found.sentence for found in asked_in_german)
        assert compared_by(asked_in_german) == "letters"


def test_each_token_of_a_question_is_compared_with_its_nearest_of_the_section(embedder):
    def nearness(question, section):
        asked, held = (text.tokens for text in embedder.embed_tokens([question, section]))
        return token_nearness(asked, [held]).get(0)

    asked = "how do I send a lamp back"
    assert nearness(asked, asked) == pytest.approx(1, abs=0.02)
    fits = nearness(asked, "Returns: put the lamp into its box and post it to us.")
    assert fits > nearness(asked, "Lamps of brass shine for many years.") > 0
    assert nearness("", "Lamps") is None, "of a text without tokens nothing is known"


def test_sections_that_are_compared_together_are_as_near_as_each_is_alone(embedder):
    texts = ["Brass shines.", "", "Put the lamp into its box and post it to us.", "We close at six."]
    asked, *held = (text.tokens for text in embedder.embed_tokens(["how do I send a lamp back", *texts]))
    together = token_nearness(asked, [*held, None])
    alone = [token_nearness(asked, [one]).get(0) for one in held]
    assert [together.get(place) for place in range(4)] == alone
    assert set(together) == {0, 2, 3}


def test_an_embedder_without_vectors_for_tokens_compares_sentences(shop, embedder):
    plain = WithoutTokens(embedder)
    comparer = Comparer(plain, Calibration(), Vectors(plain))
    ranker = SectionRanker(shop.rarity, comparer)
    found = [hit("a", "Brass shines.", 0.5), hit("b", "Delivery costs 4.50 EUR.", 0.49, "Delivery")]
    ranked = ranker.refine(Query("how much is delivery", "en"), found, 10)
    assert names(ranked) == ["b", "a"]
    compared = comparer.compared(Query("how much is delivery", "en"), found)
    assert compared_by(compared) == "sentences"


def test_a_section_that_a_later_step_adds_is_compared_too(shop, embedder, ranker):
    query = Query("can I get my money back?", "en")
    comparer, grader = Comparer(embedder, Calibration(), Vectors(embedder)), EvidenceGrader(shop.rarity)
    says = hit("says", "We refund the full price of a lamp within thirty days.", 0.6, "Refunds")
    found = ranker.refine(query, [hit("vague", "Lamps and more lamps.", 0.5)], 10)
    compared = comparer.refine(query, [says, *found], 10)
    assert names(compared) == ["says", "vague"]
    by_the_search = ranker.refine(query, [says, hit("vague", "Lamps and more lamps.", 0.5)], 10)
    assert grader.answerability(query, compared[:1]) == pytest.approx(
        grader.answerability(query, by_the_search[:1]), abs=0.01
    )


def test_what_another_wording_found_is_compared_with_the_question(embedder):
    echo = hit("echo", "How to polish lamps of brass.", 0.9, "Care")
    comparer = Comparer(embedder, Calibration(), Vectors(embedder))
    own = comparer.compared(Query("How do I polish lamps of brass?", "en"), [echo])
    (asked,) = comparer.compared(Query("What does delivery cost?", "en"), own)
    for name in ("sentence", "tokens"):
        assert asked.scores[name] < own[0].scores[name]


def test_when_the_embedder_fails_the_words_rank(shop, embedder):
    class Failing:
        languages = frozenset({"en"})

        def embed(self, texts):
            raise ModelError("embedding_unreachable", "no answer")

    ranker = SectionRanker(shop.rarity, Comparer(Failing(), Calibration(), Vectors(embedder)))
    found = [hit("a", "Brass shines.", 0.5), hit("b", "Delivery costs 4.50 EUR.", 0.49, "Delivery")]
    assert names(ranker.refine(Query("how much is delivery", "en"), found, 10)) == ["b", "a"]


def test_a_requested_kind_of_fact_counts_for_the_section_that_has_it(shop):
    hits = [hit("a", "Delivery is quick.", 0.5), hit("b", "Delivery costs 4.50 EUR.", 0.5)]
    rows = section_features(Query("What does delivery cost?", "en"), hits, shop.rarity)
    assert rows[:, SECTION.index("fact")].tolist() == [-1.0, 1.0]


def test_texts_that_are_compared_are_the_heading_and_then_each_sentence_once():
    chunk = hit("a", "Lamps burn. Lamps burn. Brass shines.", 0.5).chunk
    assert compared_texts(chunk) == ("Lamps", "Lamps burn.", "Brass shines.")


def test_a_process_multiplies_matrices_in_one_thread(tmp_path):
    with ThreadpoolController().limit(limits=2, user_api="blas"):
        open_runtime(Settings.of(data_dir=tmp_path / "data")).close()
        pools = ThreadpoolController().info()
    assert {pool["num_threads"] for pool in pools if pool["user_api"] == "blas"} == {1}
