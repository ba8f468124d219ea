"""The self-reflecting flow takes every path of its graph, and stops at every limit."""

import subprocess
import sys
from dataclasses import dataclass, field

import pytest

from server.answering.flows.graders import Reflection
from server.answering.flows.self_rag import SelfRagFlow
from server.answering.flows.table import FLOWS
from server.domain.answer import Answer, Claim, Delta, Outcome
from server.domain.question import Query, Question, Turn
from server.domain.reflection import Grade
from tests.answering.conftest import answer

ASKED = "How long do parcels to islands take?"
FOUND, NOTHING = "found", "nothing"


@dataclass
class Script:
    """Graders that say what they are told to, in turn, the last word again and again."""

    documents: list[str] = field(default_factory=lambda: [FOUND])
    grounded: list[tuple[str, ...]] = field(default_factory=lambda: [()])
    useful: list[bool] = field(default_factory=lambda: [True])
    queries: list[str] = field(default_factory=lambda: ["island parcels", "parcels islands days", "islands"])
    asked: list[tuple] = field(default_factory=list)

    def next(self, name, *seen):
        self.asked.append((name, *seen))
        script = getattr(self, name)
        return script.pop(0) if len(script) > 1 else script[0]

    def count(self, name):
        return sum(asked[0] == name for asked in self.asked)

    def reflection(self, max_count=3, max_retries=2):
        return Reflection(
            Documents(self), Groundedness(self), Usefulness(self), Transformer(self), Documents(self),
            lambda query, chunks: 1.0, max_count=max_count, max_retries=max_retries,
        )  # fmt: skip


@dataclass
class Documents:
    script: Script

    def keep(self, query, chunks):
        return list(chunks[:2]) if self.script.next("documents", query.text) == FOUND else []


@dataclass
class Groundedness:
    script: Script

    def grade(self, question, draft):
        unsupported = self.script.next("grounded", draft.answer.text)
        return Grade(not unsupported, 0.5, unsupported)


@dataclass
class Usefulness:
    script: Script

    def grade(self, question, query, draft):
        return Grade(self.script.next("useful", query.text), 0.5)


@dataclass
class Transformer:
    script: Script

    def transform(self, question, tried, found):
        self.script.asked.append(("tried", tuple(query.text for query in tried)))
        text = self.script.next("queries")
        return Query(text, question.language) if text else None


@dataclass
class Worder:
    """A writer that words its answers, as a model does."""

    replies: list[str]
    told: list[tuple[str, ...]] = field(default_factory=list)
    model = "worder"

    def write(self, question, query, chunks):
        self.told.append(question.avoid)
        text = self.replies.pop(0) if len(self.replies) > 1 else self.replies[0]
        for sentence in filter(None, text.split("|")):
            yield Claim(sentence, tuple(range(len(chunks))))


def flow(shop, script, writers=None, **limits):
    changed = {"writers": writers} if writers else {}
    reflection = script.reflection(**limits)
    return shop.pipeline(None, lambda stages: SelfRagFlow(stages, reflection), **changed)


def path(final):
    return [node["node"] for node in final.trace["nodes"] if not node["node"].startswith("after ")]


def test_what_is_found_at_once_is_graded_and_given(shop):
    script = Script()
    streamed, final = answer(flow(shop, script), ASKED)
    assert final.outcome is Outcome.ANSWERED
    assert final.flow == "self-rag"
    assert streamed == final.text
    assert "five working days" in final.text
    assert path(final) == [
        "retrieve",
        "grade_documents",
        "generate",
        "grade_groundedness",
        "grade_usefulness",
    ]


def test_the_visitor_gets_citations_with_the_text_as_from_the_direct_flow(shop):
    question = Question(ASKED, "shop", (), "en")
    direct, graded = (list(made.answer(question)) for made in (shop.pipeline(), flow(shop, Script())))
    assert [type(event) for event in graded] == [type(event) for event in direct]
    assert graded[-1].citations == direct[-1].citations


def test_a_retrieval_without_use_is_tried_with_other_words_and_graded_against_the_question(shop):
    script = Script(documents=[NOTHING, FOUND])
    _, final = answer(flow(shop, script), ASKED)
    assert final.outcome is Outcome.ANSWERED
    assert path(final)[:4] == ["retrieve", "grade_documents", "transform_query", "retrieve"]
    assert {asked[1] for asked in script.asked if asked[0] in ("documents", "useful")} == {ASKED}


def test_every_wording_that_was_tried_is_remembered(shop):
    script = Script(documents=[NOTHING])
    answer(flow(shop, script), ASKED)
    tried = [asked[1] for asked in script.asked if asked[0] == "tried"]
    assert tried == [(ASKED,), (ASKED, "island parcels")]


@pytest.mark.parametrize("max_count", [1, 2, 4])
def test_it_gives_up_after_max_count_retrievals_with_an_honest_refusal(shop, max_count):
    script = Script(documents=[NOTHING], queries=["a", "b", "c", "d", "e"])
    _, final = answer(flow(shop, script, max_count=max_count), ASKED)
    assert final.outcome is Outcome.REFUSED
    assert final.pages, "what the question itself found is offered"
    assert path(final).count("retrieve") == max_count
    assert script.count("documents") == max_count


def test_it_gives_up_when_no_other_wording_is_left(shop):
    script = Script(documents=[NOTHING], queries=[""])
    _, final = answer(flow(shop, script), ASKED)
    assert final.outcome is Outcome.REFUSED
    assert path(final) == ["retrieve", "grade_documents", "transform_query"]


def test_a_wording_that_was_tried_before_counts_as_none(shop):
    script = Script(documents=[NOTHING], queries=[ASKED])
    _, final = answer(flow(shop, script), ASKED)
    assert path(final).count("retrieve") == 1


def test_an_ungrounded_draft_is_written_anew_and_the_writer_is_told_what_was_wrong(shop):
    wrong = "Parcels to islands take five working days by ship."
    writer = Worder([wrong, "Parcels to islands take five working days."])
    script = Script(grounded=[("by ship",), ()])
    _, final = answer(flow(shop, script, [writer, *shop.steps().writers]), ASKED)
    assert writer.told == [(), ("by ship",)]
    assert "by ship" not in final.text
    assert final.model == "worder"


@pytest.mark.parametrize("max_retries", [1, 2, 3])
def test_when_no_draft_can_be_grounded_the_pages_are_quoted(shop, max_retries):
    writer = Worder(["Parcels to islands take five working days by ship."])
    script = Script(grounded=[("by ship",)])
    made = flow(shop, script, [writer, *shop.steps().writers], max_retries=max_retries)
    _, final = answer(made, ASKED)
    assert len(writer.told) == max_retries
    assert final.model == "embedded"
    assert "by ship" not in final.text
    assert "five working days" in final.text
    assert "quote" in path(final)


def test_a_draft_of_no_use_leads_to_another_wording(shop):
    script = Script(useful=[False, True])
    _, final = answer(flow(shop, script), ASKED)
    assert path(final).count("generate") == 2
    assert path(final)[4:6] == ["grade_usefulness", "transform_query"]


@pytest.mark.parametrize(("max_count", "max_retries", "drafts"), [(1, 5, 1), (5, 1, 1), (2, 5, 2), (5, 3, 3)])
def test_at_the_limits_the_best_draft_is_given(shop, max_count, max_retries, drafts):
    script = Script(useful=[False], queries=[f"parcels {n}" for n in range(9)])
    _, final = answer(flow(shop, script, max_count=max_count, max_retries=max_retries), ASKED)
    assert final.outcome is Outcome.ANSWERED
    assert path(final).count("generate") == drafts


def test_a_later_search_that_finds_nothing_does_not_cost_the_draft(shop):
    script = Script(documents=[FOUND, NOTHING], useful=[False])
    _, final = answer(flow(shop, script), ASKED)
    assert final.outcome is Outcome.ANSWERED
    assert "five working days" in final.text


def test_a_writer_that_finds_no_answer_leads_to_another_wording_and_then_to_a_refusal(shop):
    script = Script(queries=[f"parcels {n}" for n in range(9)])
    _, final = answer(flow(shop, script, [Worder([""]), *shop.steps().writers], max_retries=5), ASKED)
    assert final.outcome is Outcome.REFUSED
    assert path(final).count("retrieve") == 3


def test_nothing_is_streamed_of_a_draft_that_is_not_given(shop):
    writer = Worder(
        ["Parcels to islands take five working days by ship.", "Parcels to islands take five working days."]
    )
    script = Script(grounded=[("by ship",), ()])
    made = flow(shop, script, [writer, *shop.steps().writers])
    events = list(made.answer(Question(ASKED, "shop", (), "en")))
    assert "by ship" not in "".join(event.text for event in events if isinstance(event, Delta))
    assert isinstance(events[-1], Answer)


def test_a_graph_that_would_run_on_is_stopped_and_the_best_draft_given(shop):
    script = Script(useful=[False], queries=[f"parcels {n}" for n in range(99)])
    reflection = script.reflection(max_count=50, max_retries=50)

    def made(stages):
        flow = SelfRagFlow(stages, reflection)
        flow._graph._limit = 12
        return flow

    _, final = answer(shop.pipeline(None, made), ASKED)
    assert final.outcome is Outcome.ANSWERED
    assert final.trace["nodes"][-1]["node"] == "limit"


def test_a_follow_up_is_graded_as_the_question_that_it_stands_for(shop):
    script = Script()
    before = Turn(
        "How do I install the lamp driver on Linux?", "Run it.", "How do I install the lamp driver on Linux?"
    )
    _, final = answer(flow(shop, script), "and on Windows?", [before])
    assert "lamp driver" in final.trace["query"]
    assert {asked[1] for asked in script.asked if asked[0] == "useful"} == {final.trace["query"]}


def test_the_ranking_is_that_of_the_search_which_found_something(shop):
    question = Question(ASKED, "shop", (), "en")
    of_no_use = flow(shop, Script(documents=[NOTHING], queries=["warranty", ""])).search(question, 4)
    assert [hit.chunk.id for hit in of_no_use] == [
        hit.chunk.id for hit in shop.pipeline().search(question, 4)
    ]
    mended = flow(shop, Script(documents=[NOTHING, FOUND], queries=["warranty three years"])).search(
        question, 4
    )
    assert mended[0].chunk.id == "trap"


def test_the_trace_tells_every_decision(shop):
    _, final = answer(flow(shop, Script(documents=[NOTHING, FOUND])), ASKED)
    decisions = {node["node"]: node["next"] for node in final.trace["nodes"] if "next" in node}
    assert decisions["after transform_query"] == "retrieve"
    assert decisions["after grade_usefulness"] == "end"
    assert {"retrieve", "filter", "write", "grade"} <= final.timings_ms.keys()


def test_a_flow_that_nobody_knows_is_named_with_those_that_are():
    with pytest.raises(ValueError, match="unknown flow 'self_rag'; known: direct, self-rag, corrective"):
        FLOWS.load("self_rag")


def test_starting_without_such_a_flow_does_not_load_the_graph_library():
    code = (
        "import sys, server.runtime.runtime, server.runtime.answering; sys.exit('langgraph' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
