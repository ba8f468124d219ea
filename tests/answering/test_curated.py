"""The operator's own answer is given to its question, in other words too, and to no other question."""

from dataclasses import replace
from datetime import date

import pytest

from server.answering.shortcuts.curated import CuratedAnswers, Refreshed
from server.answering.shortcuts.same_question import Likeness, contradiction, essence
from server.answering.writing.markup import answer_html
from server.domain.answer import Outcome
from server.domain.curated import CuratedAnswer
from server.domain.protocols import ModelError
from server.domain.question import Question
from server.settings import SETTINGS
from tests.answering.conftest import HOME, answer

THRESHOLD = SETTINGS["curated_threshold"].default
MINE = CuratedAnswer(
    "shop",
    ("What does delivery to Norway cost?", "norway shipping price"),
    "It costs **12 EUR**.",
    (f"{HOME}/delivery",),
    id=7,
)


@pytest.fixture
def given(shop):
    def made(*answers, embedder=None):
        likeness = Likeness(shop.rarity, embedder or shop.embedder)
        return CuratedAnswers(lambda: answers or (MINE,), likeness, THRESHOLD, lambda url: "Delivery")

    return made


def ask(curated, text, language="en"):
    found = curated.match(Question(text, "shop", (), language))
    return found[0].id if found else None


@pytest.mark.parametrize(
    "text",
    [
        "What does delivery to Norway cost?",
        "  what does DELIVERY to norway cost ",
        "Norway shipping price!",
        "How much does delivery to Norway cost?",
        "what would a delivery to Norway cost",
    ],
)
def test_its_question_in_these_and_nearly_these_words_gets_it(given, text):
    assert ask(given(), text) == 7


@pytest.mark.parametrize(
    "text",
    [
        "What does delivery to Sweden cost?",
        "How long does the warranty last?",
        "What does delivery of 3 lamps to Norway cost?",
        "How do I install the driver?",
        "price",
    ],
)
def test_another_question_does_not(given, text):
    assert ask(given(), text) is None


def test_the_answer_is_marked_given_at_once_and_links_to_its_pages(shop, given):
    streamed, final = answer(shop.pipeline(shortcuts=[given()]), "norway shipping price")
    assert final.outcome is Outcome.CURATED
    assert streamed == ""
    assert final.text.startswith("It costs **12 EUR**.")
    assert final.sources == (f"{HOME}/delivery",)
    assert final.trace["shortcut"] == "curated"
    assert final.trace["curated"] == {"id": 7, "likeness": 1.0}
    assert "retrieve" not in final.timings_ms
    html = answer_html(final)
    assert "<strong>12 EUR</strong>" in html
    assert f'href="{HOME}/delivery"' in html


def test_a_link_that_the_operator_wrote_stays_and_markup_that_could_do_harm_does_not(shop, given):
    text = "See [there](https://partner.example/x). <script>alert(1)</script> [no](javascript:alert(1))"
    mine = CuratedAnswer("shop", ("Who repairs lamps?",), text, id=1)
    _, final = answer(shop.pipeline(shortcuts=[given(mine)]), "Who repairs lamps?")
    html = answer_html(final)
    assert 'href="https://partner.example/x"' in html
    assert "<script" not in html
    assert "javascript:" not in html.replace("](javascript:", "")


def test_one_that_is_off_or_for_another_language_is_not_given(given):
    off = CuratedAnswer("shop", ("Is it open?",), "Yes.", enabled=False, id=1)
    german = CuratedAnswer("shop", ("Is it open?",), "Ja.", language="de", id=2)
    assert ask(given(off, german), "Is it open?") is None
    assert ask(given(off, german), "Is it open?", "de") == 2


class Broken:
    languages = frozenset()

    def embed(self, texts):
        raise ModelError("timeout", "too slow")


class EnglishOnly:
    languages = frozenset({"en"})

    def embed(self, texts):
        raise AssertionError("not asked for a language that it does not read")


def test_without_the_embedder_the_words_decide(given):
    assert ask(given(embedder=Broken()), "the norway shipping price?") == 7
    assert ask(given(embedder=Broken()), "What does the warranty cost?") is None


def test_a_language_that_the_embedder_does_not_read_is_matched_by_words(given):
    mine = CuratedAnswer("shop", ("配送费是多少？",), "12 EUR", id=3)
    assert ask(given(mine, embedder=EnglishOnly()), "配送费是多少", "zh") == 3
    assert ask(given(mine, embedder=EnglishOnly()), "请问配送费多少？", "zh") in (3, None)
    assert ask(given(mine, embedder=EnglishOnly()), "保修期是多长？", "zh") is None


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("How do I upgrade to version 14?", "How do I upgrade to version 15?"),
        ("Is delivery free with 2.50 EUR?", "Is delivery free with 250 EUR?"),
        ("Can I return a lamp?", "Can't I return a lamp?"),
        ("Kann ich die Lampe zurückgeben?", "Kann ich die Lampe nicht zurückgeben?"),
        ("可以退货吗", "不可以退货吗"),
        ("When does the shop open?", "Where does the shop open?"),
        ("How do I convert PDF to Word?", "How do I convert Word to PDF?"),
    ],
)
def test_a_near_miss_contradicts_and_has_another_essence(one, other):
    assert contradiction(one, other)
    assert essence(one, "en") != essence(other, "en")


@pytest.mark.parametrize(
    ("days", "gets"),
    [
        (("2026-01-02", ""), 7),
        (("2026-01-03", ""), None),
        (("", "2026-01-02"), 7),
        (("", "2026-01-01"), None),
    ],
)
def test_outside_of_its_days_it_is_not_given(given, days, gets):
    made = CuratedAnswer.checked("shop", ["norway shipping price"], "12 EUR", days=days)
    curated = given(replace(made, id=7))
    curated._today = lambda: date(2026, 1, 2)
    assert ask(curated, "norway shipping price") == gets


@pytest.mark.parametrize(
    ("changed", "text", "why"),
    [
        ({}, "How much does delivery to Norway cost?", ""),
        ({}, "How do I install the driver?", "likeness"),
        ({}, "What does delivery of 3 lamps to Norway cost?", "numbers"),
        ({}, "What does delivery not to Norway cost?", "denial"),
        ({"enabled": False}, "norway shipping price", "off"),
        ({"valid_from": date(2999, 1, 1)}, "norway shipping price", "not yet"),
        ({"valid_until": date(2020, 1, 1)}, "norway shipping price", "ended"),
        ({"language": "de"}, "norway shipping price", "language"),
    ],
)
def test_the_tester_tells_why_an_answer_is_not_given(given, changed, text, why):
    curated = given(replace(MINE, **changed))
    (near,) = curated.nearest(Question(text, "shop", (), "en"), 5)
    assert (near.curated.id, near.why) == (7, why)
    assert (ask(curated, text) == 7) == (why == "")


def test_the_tester_shows_the_nearest_first_each_answer_once(given):
    other = CuratedAnswer("shop", ("Who repairs radios?",), "Nobody.", id=8)
    near = given(other, MINE).nearest(Question("norway shipping price", "shop", (), "en"), 5)
    assert [(one.curated.id, one.phrase) for one in near] == [
        (7, "norway shipping price"), (8, "Who repairs radios?"),
    ]  # fmt: skip
    assert near[0].likeness == 1.0


def test_a_changed_answer_is_known_within_a_second(given, monkeypatch):
    stored = [MINE]
    curated = given()
    curated._all = Refreshed(lambda: tuple(stored))
    assert ask(curated, "norway shipping price") == 7
    stored.clear()
    monkeypatch.setattr("server.answering.shortcuts.curated.FRESH_S", 0.0)
    assert ask(curated, "norway shipping price") is None
