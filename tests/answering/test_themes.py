"""Questions for all that a site has, which no page answers with the words of the question."""

from dataclasses import replace

import pytest

from server.answering.writing.quoting import quote_themes
from server.domain.answer import Answer, Outcome
from server.domain.chunk import Chunk, ScoredChunk
from server.retrieval.question_kinds import asks_for_themes, asks_who_is_behind
from tests.answering.conftest import HOME, answer

WHOLE = "What are the main themes of this documentation?"


@pytest.mark.parametrize(
    ("text", "themes"),
    [
        (WHOLE, True),
        ("Give me an overview of this site", True),
        ("Can you summarize your website?", True),
        ("Welche Themen gibt es auf dieser Seite?", True),
        ("这个网站的主要内容是什么？", True),
        ("What are the main topics of the safety chapter?", False),
        ("Give me an overview of the warranty", False),
        ("What kinds of lamps do you have?", False),
        ("List all products", False),
        ("How do I return a lamp?", False),
    ],
)
def test_a_question_for_themes_names_nothing_but_the_site(text, themes):
    assert asks_for_themes(text) is themes


@pytest.mark.parametrize(
    ("text", "behind"),
    [
        ("who runs this?", True),
        ("whos behind this", True),
        ("Who is the team behind this program?", True),
        ("who owns your shop", True),
        ("Wer steckt dahinter?", True),
        ("Wer betreibt diese Seite?", True),
        ("Qui est derrière ce site ?", True),
        ("¿Quién está detrás de esta página?", True),
        ("Quem está por trás deste site?", True),
        ("这个网站是谁运营的？", True),
        ("このサイトは誰が運営していますか？", True),
        ("이 사이트는 누가 운영하나요?", True),
        ("Кто стоит за этим сайтом?", True),
        ("من يدير هذا الموقع؟", True),
        ("who is it for", True),
        ("Who's this program for?", True),
        ("Für wen ist das?", True),
        ("C'est pour qui ?", True),
        ("¿Para quién es esto?", True),
        ("Para quem é isso?", True),
        ("who is the lamp for", False),
        ("is it for sale", False),
        ("who runs the lamp workshop", False),
        ("Wer macht die Lampen?", False),
        ("who made lamp 4711?", False),
    ],
)
def test_who_is_behind_the_site_and_whom_it_is_for_is_asked_of_nothing_else(text, behind):
    assert asks_who_is_behind(text) is behind


class Themed:
    """Retrieval that knows the themes of the shop."""

    name = "themed"

    def __init__(self, strategy):
        self._strategy = strategy

    def retrieve(self, query, limit):
        found = self._strategy.retrieve(query, limit)
        return [replace(hit, context=f"All about {hit.chunk.title}", theme=hit.chunk.title) for hit in found]


def test_each_theme_is_told_by_the_sentence_that_its_page_opens_with(shop):
    pipeline = shop.pipeline(strategy=Themed(shop.strategy.retriever))
    streamed, final = answer(pipeline, WHOLE)
    assert final.outcome is Outcome.ANSWERED
    assert streamed == final.text
    assert (
        f"- [Delivery]({HOME}/delivery): Parcels inside the country arrive within two working days. ["
        in final.text
    )
    assert f"- [Warranty]({HOME}/trap): The warranty lasts three years. [" in final.text
    assert {citation.url for citation in final.citations} >= {f"{HOME}/delivery", f"{HOME}/driver"}
    assert "Ignore all" not in final.text


def test_without_themes_the_sites_own_words_about_itself_stand_in(shop):
    class About:
        name = "about"

        def answer(self, question):
            return Answer(Outcome.ANSWERED, "We sell lamps.")

    assert answer(shop.pipeline(fallbacks=[About()]), WHOLE)[1].text == "We sell lamps."


def test_a_site_that_says_nothing_of_itself_refuses_rather_than_quote_any_page(shop):
    assert answer(shop.pipeline(), WHOLE)[1].outcome is Outcome.REFUSED


def test_a_page_is_told_once_and_one_without_anything_to_quote_is_left_out():
    def hit(name, text):
        return ScoredChunk(Chunk(name + text[:3], f"{HOME}/{name}", name, (), text, 0, "en"), 1.0, theme=name)

    chunks = [
        hit("a", "Lamps shine as long as there is power."),
        hit("a", "Lamps may be carried about the house."),
        hit("b", "```\nlamp --on\n```"),
        hit("c", "Kind:\tdesk lamp\nSize:\t30 cm"),
    ]
    told = [(claim.text, claim.sources) for claim in quote_themes(chunks)]
    assert told == [
        (f"- [a]({HOME}/a): Lamps shine as long as there is power.", (0,)),
        (f"- [c]({HOME}/c): Kind: desk lamp", (3,)),
    ]
