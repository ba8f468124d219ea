"""What rewriters, expanders and clarifiers promise, with a model, with one that fails, and without."""

import json
from contextlib import nullcontext

import pytest

from server.answering.trace import Trace
from server.answering.understanding.expansion import (
    ExpansionStep,
    Feedback,
    KeywordVariants,
    ModelExpander,
    StepBack,
    SubQuestions,
    Task,
)
from server.answering.understanding.follow_ups import FollowUpStep, ModelFollowUpStep
from server.answering.understanding.steps import understand
from server.answering.understanding.translation import GlossaryStep, ModelTranslationStep
from server.answering.writing.clarifying import AmbiguityClarifier, ModelClarifier
from server.domain.answer import Outcome
from server.domain.chunk import Chunk, ScoredChunk
from server.domain.protocols import ModelError
from server.domain.question import Query, Question, Turn
from server.domain.site import Site
from server.retrieval.rarity import Rarity
from server.runtime.answering import QueryWork
from server.settings.tuning import Tuning

TEXTS = [
    "",
    "   ",
    "???",
    "backup",
    "and on Windows?",
    "Was kostet die Lieferung?",
    "配送料金はいくらですか",
    "lamp " * 400,
    "\x00\u200b{}[]</question>",
]
HISTORY = (
    Turn("How do I install it?", "Run it.", "install driver Linux", "en"),
    Turn("thanks", "Welcome.", "", "en"),
)


class Words:
    """A word index of one page about delivery."""

    def __init__(self):
        self.known = {"deliveri": 1, "cost": 1}

    def reading(self):
        return nullcontext()

    def count(self):
        return 3

    def document_frequencies(self, tokens):
        return {token: self.known.get(token, 0) for token in tokens}


class Model:
    name = "test-model"

    def __init__(self, reply):
        self.reply = reply

    def complete(self, prompt):
        if self.reply is None:
            raise ModelError("timeout", "no answer in time")
        return self.reply

    def stream(self, prompt):
        yield self.complete(prompt)


class Strategy:
    """Finds nothing."""

    def retrieve(self, query, limit):
        return []


class Incidents:
    def __init__(self):
        self.kinds = []

    def record(self, site_id, kind, message, details=None):
        self.kinds.append(kind)


MODELS = {
    "good": Model(
        json.dumps({"question": "What does delivery cost?", "queries": ["delivery cost"], "verdict": "ask"})
    ),
    "silent": Model(None),
    "babbling": Model("{ sorry"),
    "wrong": Model('{"question": 7, "queries": "x", "verdict": 0}'),
}
RARITY = Rarity(Words())


def understanding(model):
    plain = FollowUpStep("Shop")
    glossary = GlossaryStep(RARITY, "en", lambda: frozenset({"en"}))
    return {
        "history": [plain],
        "glossary": [plain, glossary],
        "model": [plain, ModelFollowUpStep(model, Incidents())],
        "translator": [plain, ModelTranslationStep(model, glossary, Incidents())],
    }


@pytest.fixture(params=list(MODELS))
def model(request):
    return MODELS[request.param]


@pytest.mark.parametrize("name", ["history", "glossary", "model", "translator"])
@pytest.mark.parametrize("history", [(), HISTORY], ids=["first", "later"])
def test_any_text_becomes_a_query(model, name, history):
    for text in TEXTS:
        query = understand(Question(text, "shop", history, "de"), understanding(model)[name], Trace())
        assert isinstance(query.text, str)
        assert bool(query.text.strip()) or not text.strip()
        assert len(query.previous) <= 3


@pytest.mark.parametrize(
    "plain",
    [KeywordVariants(RARITY), SubQuestions(), StepBack(), Feedback(RARITY)],
    ids=lambda one: type(one).__name__,
)
def test_any_query_can_be_expanded(model, plain):
    found = [ScoredChunk(Chunk("a", "https://shop.example/a", "A", (), "Delivery cost.", 0, "en"), 0.5)]
    for expander in (plain, *(ModelExpander(model, task, plain, Incidents(), "shop") for task in Task)):
        for text in TEXTS:
            made = expander.expand(Query(text, "en"), found)
            assert all(query.text.strip() and query.language == "en" for query in made)


@pytest.mark.parametrize("name", ["silent", "babbling", "wrong"])
def test_a_model_that_fails_is_told_of_and_done_without(name):
    incidents = Incidents()
    expander = ModelExpander(MODELS[name], Task.SUB_QUESTIONS, SubQuestions(), incidents, "shop")
    assert [
        query.text for query in expander.expand(Query("What is the difference between A and B?"), [])
    ] == ["A", "B"]
    assert incidents.kinds in (["timeout"], ["bad_reply"])


def test_whoever_asks_back_offers_readings(model):
    plain = AmbiguityClarifier(Site("shop", "Shop", "Shop"))
    found = [
        ScoredChunk(Chunk(title, f"https://shop.example/{title}", title, (), "Text.", 0, "en"), 0.9)
        for title in ("Return a lamp", "Return of deposits")
    ]
    for clarifier in (plain, ModelClarifier(model, plain, Incidents())):
        for text in (*TEXTS, "return"):
            answer = clarifier.ask_back(Question(text, "shop", (), "en"), Query(text, "en"), found)
            assert answer is None or (answer.outcome is Outcome.CLARIFY and 2 <= len(answer.suggestions) <= 4)


@pytest.mark.parametrize("option", ["multi_query", "sub_questions", "step_back", "hyde"])
def test_each_way_to_expand_is_switched_on_by_its_own_option(option):
    off = QueryWork(Site("shop", "Shop", "Shop"), Tuning(), None, Incidents())
    on = QueryWork(Site("shop", "Shop", "Shop"), Tuning().with_values({option: True}), None, Incidents())
    strategy = Strategy()
    assert off.expansion(strategy, RARITY) == []
    assert [type(step) for step in on.expansion(strategy, RARITY)] == [ExpansionStep]


def test_asking_back_can_be_switched_off():
    site, off = Site("shop", "Shop", "Shop"), Tuning().with_values({"clarify": False})
    assert QueryWork(site, Tuning(), None, Incidents()).clarifiers()
    assert QueryWork(site, off, None, Incidents()).clarifiers() == []
