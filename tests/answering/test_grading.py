"""Can the site answer this at all? The signs, each by itself, and together on a small site."""

import pytest

from server.answering.answer_kinds import lacks_requested_fact
from server.answering.grading import DEFAULT_FLOOR, IN_OTHER_WORDS, OTHER_THING, UNSURE, EvidenceGrader
from server.answering.ranking import COMPARISONS, LEARNED, ODDS
from server.answering.understanding.question_words import content_text, editions, lacks_edition, names
from server.domain.chunk import Chunk, ScoredChunk
from server.domain.question import Query, Question
from server.retrieval.rarity import Rarity
from tests.equal_words import EqualWords


@pytest.mark.parametrize(
    ("text", "language", "found"),
    [
        ("How do I use it with Kubernetes?", "en", ["Kubernetes"]),
        ("Kubernetes: how do I use it?", "en", []),
        ("what is innodb_buffer_pool_size", "en", ["innodb_buffer_pool_size"]),
        ("what does TurboCacheMode do", "en", ["TurboCacheMode"]),
        ("Is cron.schedule available?", "en", ["cron.schedule"]),
        ("WHY DOES NOTHING WORK", "en", []),
        ("Wie stelle ich die Uhr am Rechner?", "de", []),
        ("Kann ich ZFS nehmen?", "de", ["ZFS"]),
        ("kubeadm で組む手順は？", "ja", ["kubeadm"]),
        ("Ответь мне. Why?", "ru", ["Why"]),
    ],
)
def test_names_are_told_from_common_words(text, language, found):
    assert names(text, language) == found


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("List the new features of Lantern 22", [("Lantern", "22")]),
        ("whats new in lantern 5.1?", [("lantern", "5.1")]),
        ("since version 6.16.0 it fails", [("version", "6.16.0")]),
        ("Loading 200 million rows takes forever", []),
        ("a disk of 500 GB", []),
        ("reach the network 10.1.0.0/16", []),
        ("How do I save 2.5 % of it in Lantern 9?", [("Lantern", "9")]),
    ],
)
def test_versions_are_told_from_other_numbers(text, numbers):
    assert editions(text) == numbers


def test_a_version_is_lacking_where_only_others_of_its_name_are_spoken_of():
    assert lacks_edition("New in Lantern 115 and Lantern 2.15", "Lantern", "15")
    assert lacks_edition("Lantern 14. See page 15 of the book.", "Lantern", "15")
    assert lacks_edition("Lanterns are listed here.", "Lantern", "15")
    assert not lacks_edition("Rules of page 15 on lanterns", "Lantern", "15")
    assert not lacks_edition("New in Lantern 15.2", "Lantern", "15")
    assert not lacks_edition("COVID-19 patients", "COVID", "19")
    assert not lacks_edition("Lantern 14. As of release 15 it shines.", "Lantern", "15")
    assert not lacks_edition("A fresh start.", "fresh", "2.4")


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("如何设置快照的时间", "设置快照时间"),
        ("バックアップを毎晩取るにはどうすればいいですか", "バックアップ毎晩取"),
        ("그 책은 어떻게 주문 하나요", "책은주문"),
        ("How do I order the book?", "HowdoIorderthebook?"),
        ("どうすればいいですか", "どうすればいいですか"),
        ("怎么", "怎么"),
    ],
)
def test_function_words_are_cut_out_where_no_spaces_separate_them(text, left):
    assert "".join(content_text(text).split()) == left


@pytest.mark.parametrize(
    ("question", "texts", "lacks"),
    [
        ("What does it cost per month?", "The planner's cost is an estimate.", True),
        ("What does it cost per month?", "The plan is $20 a month.", False),
        ("How much is the small lamp?", "19,90 EUR", False),
        ("How much memory does it need?", "It needs a lot.", False),
        ("booking fee", "15% are kept for the booking.", True),
        ("booking fee percentage", "15% are kept for the booking.", False),
        ("多少钱？", "本产品免费", False),
        ("多少钱？", "本产品很好", True),
        ("Which phone number do I call?", "Call us under +49 30 1234567.", False),
        ("Which phone number do I call?", "Write to us. Version 15.2 came in 2022.", True),
        ("What is your email address?", "help@shop.example", False),
        ("What is your email address?", "See the contact page.", True),
        ("How do I send an email?", "See the contact page.", False),
    ],
)
def test_a_question_for_a_kind_of_fact_needs_such_a_fact(question, texts, lacks):
    assert lacks_requested_fact(question, texts) is lacks


@pytest.mark.parametrize(
    ("question", "heading", "text", "nearness", "limit"),
    [
        ("how much is the boat for children?", "Tickets", "Student: 20 EUR.", 0.3, OTHER_THING),
        ("how much is the boat for children?", "The boat", "Adults pay 20 EUR.", 0.3, 1.0),
        ("how much is the boat for children?", "Ship", "Kids sail for 20 EUR.", 0.5, IN_OTHER_WORDS),
        ("what is the phone number of the cook?", "Hotel", "Phone number: +49 30 1234567", 0.3, OTHER_THING),
        ("what is the phone number of the hotel?", "Hotel", "Phone number: +49 30 1234567", 0.3, 1.0),
        ("how much is it?", "Tickets", "Student: 20 EUR.", 0.3, 1.0),
    ],
)
def test_the_price_of_another_thing_is_no_answer(question, heading, text, nearness, limit):
    chunk = Chunk("1", "https://shop.example/a", "Fair", (heading,), text, 0, "en")
    scores = {"tokens": 5.0, "headline": 5.0, "sentence": nearness}
    hit = ScoredChunk(chunk, 0.9, scores, sentence=text)
    found = EvidenceGrader(Rarity(EqualWords())).answerability(Query(question, "en"), [hit])
    assert found == pytest.approx(limit, abs=0.05)


@pytest.mark.parametrize("by", COMPARISONS)
@pytest.mark.parametrize("sign", ["lacks_fact", "unknown_name", "other_edition"])
def test_each_sign_against_an_answer_lowers_the_answerability(sign, by):
    assert LEARNED[by]["answer"][sign] < 0


@pytest.mark.parametrize(
    ("rival", "count", "floor", "is_shown"),
    [
        (0.2, 10, DEFAULT_FLOOR, True),
        (0.3, 10, DEFAULT_FLOOR, False),
        (0.2, 9, DEFAULT_FLOOR, False),
        (0.2, 10, 0.4, False),
    ],
    ids=["none of many comes near", "another one does", "a site of few sections", "a stricter floor"],
)
def test_a_section_that_no_other_one_comes_near_is_shown_with_doubt_from_half_the_floor_on(
    rival, count, floor, is_shown
):
    def hit(name, likely):
        chunk = Chunk(
            name, f"https://shop.example/{name}", "Fair", (name,), "Posters hang in hall two.", 0, "en"
        )
        scores = {"tokens": 0.5, "headline": 0.2, "sentence": 0.1, ODDS: likely}
        return ScoredChunk(chunk, 0.9 * likely, scores, sentence=chunk.text)

    hits = [hit("Posters", 1.0), *(hit(f"Hall {n}", rival) for n in range(1, count))]
    query = Query("what paper size for a poster", "en")
    grader = EvidenceGrader(Rarity(EqualWords()), floor)
    assert UNSURE * floor < grader.answerability(query, hits) < DEFAULT_FLOOR
    graded = grader.grade(query, hits)
    assert bool(graded.kept) == is_shown
    assert graded.is_doubtful == is_shown


def test_an_answerable_question_is_over_the_floor_and_one_about_what_the_site_lacks_is_under_it(shop):
    pipeline, grader = shop.pipeline(), EvidenceGrader(shop.rarity)

    def answerability(asked):
        question = Question(asked, "shop", (), "en")
        return grader.answerability(Query(asked, "en"), pipeline.search(question, 10))

    assert answerability("How much does delivery cost?") > 0.5
    assert answerability("Do you repair Zephyrus laptops in Timbuktu?") < DEFAULT_FLOOR
