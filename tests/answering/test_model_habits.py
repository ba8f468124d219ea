"""Good and bad models behind the whole pipeline: what the visitor reads, what is removed, and which incident
the operator sees."""

import json
from dataclasses import dataclass, field

import pytest

from server.answering.engine import AnswerSources
from server.answering.writing.prompts import answer_rules
from server.domain.answer import Delta, Outcome
from server.domain.question import Question, Turn
from server.models.metered import estimate_tokens
from server.models.openai import OpenAIChat
from server.runtime.answering import open_pipeline
from server.runtime.sites import VectorStore, open_parts
from server.settings import Settings
from server.storage.shared_cache import DiskSharedCache
from tests.answering.conftest import TEXTS, answer
from tests.openai_replies import THOUGHTS
from tests.openai_server import Fault, Habit
from tests.servers import HERE

ASKED = "What does delivery cost?"
SENTENCE = "Delivery costs 4.50 EUR for each order."
WRITTEN = f"{SENTENCE} [1]"
QUOTED = "### [Delivery]"


class KeepAll:
    """Gives the writer every chunk that was found."""

    def keep(self, query, chunks):
        return list(chunks)


@dataclass
class Row:
    """One model and what becomes of its answer. `reads` begins the answer; "" means a refusal."""

    habit: Habit | None
    reads: str = WRITTEN
    removed: tuple[str, ...] = ()
    incident: tuple[str, str] | None = None
    """Kind, and words of the message."""
    server: dict[str, object] = field(default_factory=dict)


UNSUPPORTED, BAD = "unsupported_answer", "bad_reply"
ROWS = {
    "a good model": Row(None),
    "a verbose model": Row(
        Habit.VERBOSE, QUOTED, ("What does delivery cost?", "Great question!"), (UNSUPPORTED, "6 claims")
    ),
    "a preamble in plain text": Row(Habit.PREAMBLE, WRITTEN, ("Sure!", "Here is the answer")),
    "JSON in a fence between words": Row(Habit.FENCED, WRITTEN, ("Sure!", "Here is the JSON")),
    "a table": Row(
        Habit.TABLE, f"| | |\n|---|---|\n| Delivery | {SENTENCE} [1] |", ("| What | Answer |",)
    ),
    "headings and a summary": Row(Habit.HEADINGS, WRITTEN, ("### Answer", "### Summary")),
    "an object of its own": Row(Habit.OTHER_JSON, QUOTED, (), (BAD, "without an answer")),
    "a list of its own": Row(Habit.OTHER_LIST, QUOTED, ("[{",), (UNSUPPORTED, "1 claims")),
    "wrong numbers": Row(Habit.WRONG_NUMBERS, QUOTED, ("7.53 EUR",), (UNSUPPORTED, "'7.53 EUR' is not on")),
    "wrong citations": Row(Habit.WRONG_CITATIONS),
    "no citations": Row(Habit.NO_CITATIONS),
    "reasoning before the answer": Row(Habit.THINKS),
    "reasoning within the answer": Row(Habit.THINKS_INSIDE),
    "reasoning in its own field": Row(Habit.THINKS_APART),
    "reasoning without its opening tag": Row(
        Habit.THINKS_UNOPENED, QUOTED, ("Okay, the visitor",), (BAD, "reasoning parser")
    ),
    "reasoning without an end": Row(Habit.THINKS_FOREVER, QUOTED, (), (BAD, "reasons less")),
    "another language": Row(
        Habit.OTHER_LANGUAGE, QUOTED, ("Die Lieferung",), (UNSUPPORTED, "its language is not 'en'")
    ),
    "a decline": Row(Habit.DECLINES, ""),
    "a decline in words": Row(Habit.DECLINES_IN_WORDS, QUOTED, ("I could not find",), (UNSUPPORTED, "1 claims")),
    "a reply cut off": Row(Habit.CUT_OFF, QUOTED, (), (BAD, "cut short")),
    "a plain reply cut off": Row(Habit.CUT_OFF_PLAIN, QUOTED, (), (BAD, "cut short")),
    "a slow first word": Row(None, QUOTED, (), ("timeout", "in time"), {"latency_s": 3.0}),
    "a slow stream": Row(None, server={"token_delay_s": 0.2, "piece_chars": 8}),
    "a stream that breaks off": Row(
        None, QUOTED, (), ("server_error", "broke off"), {"fault": Fault.CUT_STREAM}
    ),
    "no structured output": Row(None, server={"formats": frozenset({"text"})}),
}  # fmt: skip


@pytest.mark.parametrize("row", ROWS.values(), ids=ROWS.keys())
def test_whatever_the_model_does_the_visitor_reads_what_the_page_says(shop, model_server, row):
    model = OpenAIChat("test-model", base_url=model_server.base_url, guard=HERE, first_token_s=1, total_s=4)
    model_server.habit = row.habit
    for name, value in row.server.items():
        setattr(model_server, name, value)
    streamed, final = answer(shop.pipeline(model, grader=KeepAll()), ASKED)

    if row.reads:
        assert final.text.startswith(row.reads)
        assert "4.50 EUR" in final.text
        assert final.model == ("embedded" if row.reads == QUOTED else "test-model")
        assert final.citations
        assert all(cited.quote in " ".join(TEXTS["delivery"][1].split()) for cited in final.citations)
    else:
        assert final.outcome is Outcome.REFUSED
        assert final.pages[0][1] == "Delivery"
    for shown in (streamed, final.text):
        assert not any(word in shown for word in ("think>", "Okay", "{", "Sure", "Lieferung", "7.53", "?"))
    claims = [item["claim"] for item in final.trace.get("removed", ())]
    assert all(any(claim.startswith(text) or text in claim for claim in claims) for text in row.removed)
    incidents = [(item["kind"], item["message"]) for item in final.trace.get("incidents", ())]
    if row.incident:
        (kind, message), *_ = incidents
        assert kind == row.incident[0]
        assert row.incident[1] in message
    else:
        assert incidents == []


def test_reasoning_counts_as_waiting_for_the_first_word(shop, model_server):
    model = OpenAIChat("test-model", base_url=model_server.base_url, guard=HERE, first_token_s=0.3, total_s=4)
    model_server.script = lambda request: f"<think>{THOUGHTS * 20}</think>{json.dumps({'answer': WRITTEN})}"
    model_server.token_delay_s = 0.05
    _, final = answer(shop.pipeline(model), ASKED)
    assert final.trace["incidents"][0]["kind"] == "timeout"
    assert final.text.startswith(QUOTED)


@pytest.fixture
def default_flow(shop, chat_model, tmp_path):
    """The pipeline that a new site gets, with a model."""
    cache = DiskSharedCache(tmp_path / "shared")
    parts = open_parts(
        VectorStore(shop.chroma, None), shop.database, shop.content.live, shop.embedder, "shop"
    )
    sources = AnswerSources(cache)
    yield open_pipeline(shop.site, parts, chat_model, shop.incidents, Settings(), sources)
    cache.close()


@pytest.mark.parametrize(
    ("asked", "begins"),
    [
        ("How much does delivery of one order cost?", WRITTEN),
        ("How do I send back a lamp with a label?", "Put the lamp into its box. [1]"),
        ("How long do parcels to islands take and what does delivery cost?", WRITTEN),
        (
            "What is the difference between the driver's installer on Linux and on Windows?",
            "Run the installer with",
        ),
    ],
)
def test_a_first_question_of_any_kind_begins_within_its_only_call(default_flow, model_server, asked, begins):
    model_server.token_delay_s = 0.05
    said = f"{WRITTEN} Put the lamp into its box. [2] Run the installer with sh lamp-driver.sh on Linux. [1]"
    model_server.script = lambda request: json.dumps({"answer": f"{said} {'More follows. ' * 20}"})
    events = default_flow.answer(Question(asked, "shop", (), "en"))
    first = next(event for event in events if isinstance(event, Delta))
    assert first.text.startswith(begins)
    assert len(model_server.requests) == 1
    assert not model_server.wait_until_idle(0)
    list(events)
    assert len(model_server.requests) == 1


def test_the_rules_are_short_and_the_same_for_every_question_of_a_site(shop, chat_model, model_server):
    before = Turn(ASKED, SENTENCE, ASKED)
    answer(shop.pipeline(chat_model), ASKED)
    answer(shop.pipeline(chat_model), "How long does the warranty last?", [before], "en")
    rules = {request["body"]["messages"][0]["content"] for request in model_server.requests}
    assert rules == {answer_rules(shop.site.title)}
    assert estimate_tokens(rules.pop()) <= 230


def test_the_next_answer_after_a_refused_format_needs_no_second_try(shop, chat_model, model_server):
    model_server.formats = frozenset({"text", "json_schema"})
    for question in (ASKED, "How long does the warranty last?"):
        answer(shop.pipeline(chat_model), question)
    assert ["response_format" in request["body"] for request in model_server.requests] == [True, False, False]
