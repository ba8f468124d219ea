"""An answer is given again to the same question while nothing has changed, and never to another one."""

from dataclasses import replace

import pytest

from server.answering.shortcuts.answer_cache import AnswerCache
from server.domain.answer import Answer, Outcome
from server.domain.question import Question, Turn
from server.storage.shared_cache import DiskSharedCache
from tests.answering.conftest import answer

ASKED = "What does delivery cost?"


@pytest.fixture
def store(tmp_path):
    made = DiskSharedCache(tmp_path / "shared")
    yield made
    made.close()


@pytest.fixture
def cached(shop, store):
    def made(*made_from, model="embedded"):
        cache = AnswerCache(store, made_from or ("shop", 1), model, 60)
        return cache, shop.pipeline(shortcuts=[cache], remember=cache.remember, forget=cache.forget)

    return made


def test_the_second_visitor_gets_the_same_answer_without_a_search(cached):
    _, pipeline = cached()
    _, first = answer(pipeline, ASKED)
    _, second = answer(pipeline, "what does  delivery cost")
    assert second.text == first.text
    assert second.citations == first.citations
    assert second.suggestions == first.suggestions
    assert second.trace == {
        "shortcut": "answer-cache",
        "query": "what does  delivery cost",
        "from_cache": True,
        "claims": first.trace["claims"],
        "support": 1.0,
    }
    assert "retrieve" in first.timings_ms
    assert "retrieve" not in second.timings_ms


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("How do I install the driver?", "How can I install the driver"),
        ("How to install the driver?", "how do i install a driver?"),
        ("Could you please install drivers?", "install driver"),
        ("Wie kann ich die Lampe zurückgeben?", "wie kann man eine Lampe zurückgeben"),
        ("保修期多久？", "保修期多久"),
    ],
)
def test_idle_words_and_spelling_do_not_matter(store, one, other):
    language = "zh" if not one.isascii() and "保" in one else "de" if "Lampe" in one else "en"
    cache = AnswerCache(store, ("shop",), "embedded", 60)
    assert cache._key(Question(one, "shop", (), language)) == cache._key(
        Question(other, "shop", (), language)
    )


NEAR_MISSES = [
    ("How do I upgrade to version 14?", "How do I upgrade to version 15?"),
    ("What does the basic plan cost?", "What does the premium plan cost?"),
    ("Can I return a lamp?", "Can I not return a lamp?"),
    ("Can I return a lamp?", "Can't I return a lamp?"),
    ("How do I enable backups?", "How do I disable backups?"),
    ("How do I convert PDF to Word?", "How do I convert Word to PDF?"),
    ("When does the shop open?", "Where does the shop open?"),
    ("Who may return a lamp?", "Why may I return a lamp?"),
    ("Install on Windows", "Install on Linux"),
    ("Is delivery free with an order?", "Is delivery free without an order?"),
    ("What is C?", "What is C++?"),
    ("Does it run on 2.5?", "Does it run on 25?"),
    ("How long do parcels to islands take?", "How much do parcels to islands take?"),
    ("Is the lamp in stock?", "Was the lamp in stock?"),
    ("What happens before the upgrade?", "What happens after the upgrade?"),
    ("Must I pay first?", "Can I pay first?"),
    ("my order", "your order"),
    ("turn the lamp on", "turn the lamp off"),
    ("可以退货吗", "不可以退货吗"),
    ("Kann ich zahlen?", "Kann ich nicht zahlen?"),
]


@pytest.mark.parametrize(("one", "other"), NEAR_MISSES)
def test_a_near_miss_is_answered_anew(store, one, other):
    cache = AnswerCache(store, ("shop",), "embedded", 60)
    language = "de" if "Kann" in one else "zh" if not one.isascii() else "en"
    assert cache._key(Question(one, "shop", (), language)) != cache._key(
        Question(other, "shop", (), language)
    )


@pytest.mark.parametrize("changed", [("other", 1), ("shop", 2), ("shop", 1, "self-rag")])
def test_another_site_index_or_flow_has_its_own_answers(cached, changed):
    _, before = cached("shop", 1)
    answer(before, ASKED)
    _, after = cached(*changed)
    assert "shortcut" not in answer(after, ASKED)[1].trace


def test_a_question_within_a_conversation_neither_fills_the_cache_nor_uses_it(cached):
    _, pipeline = cached()
    history = [Turn("How long do parcels take?", "Two days.", "How long do parcels take?")]
    answer(pipeline, ASKED, history)
    assert "shortcut" not in answer(pipeline, ASKED)[1].trace
    assert "shortcut" not in answer(pipeline, ASKED, history)[1].trace


def test_another_language_has_its_own_answers(cached):
    _, pipeline = cached()
    answer(pipeline, ASKED)
    assert "shortcut" not in answer(pipeline, ASKED, language="de")[1].trace


def test_refusals_are_not_remembered(cached):
    _, pipeline = cached()
    for _ in range(2):
        _, final = answer(pipeline, "Who won the football world cup in 1974?")
        assert final.outcome is Outcome.REFUSED
        assert "shortcut" not in final.trace


def test_what_was_written_in_place_of_a_failing_model_is_not_remembered(cached):
    _, pipeline = cached(model="gpt")
    answer(pipeline, ASKED)
    assert "shortcut" not in answer(pipeline, ASKED)[1].trace


def test_an_answer_that_something_went_wrong_with_is_not_remembered(cached, shop):
    cache, pipeline = cached()
    _, made = answer(pipeline, ASKED)
    question = Question("Another one?", "shop", (), "en")
    cache.remember(question, replace(made, trace={"incidents": [{}]}))
    assert cache.answer(question) is None


def test_an_answer_that_did_not_help_is_made_anew(cached):
    _, pipeline = cached()
    answer(pipeline, ASKED)
    pipeline.forget(Question(ASKED, "shop", (), "en"))
    assert "shortcut" not in answer(pipeline, ASKED)[1].trace


def test_nothing_that_a_visitor_wrote_is_stored():
    written = {}
    spy = type("Spy", (), {"set": lambda self, key, value, ttl: written.update({key: value})})()
    cache = AnswerCache(spy, ("shop",), "embedded", 60)
    made = Answer(
        Outcome.ANSWERED, "Two days. [1]", citations=("proof",), trace={"query": "my secret number"}
    )
    monkey = Question("my secret number is 4711", "shop", (), "en")
    cache.remember(monkey, replace(made, citations=()))
    assert not written, "an answer without a proof is not worth keeping"
    from server.domain.answer import Citation

    cache.remember(monkey, replace(made, citations=(Citation(1, "u", "t", "Two days.", "u"),)))
    assert written
    assert "secret" not in str(written)
    assert "4711" not in str(written)
