"""The trace of an answer as pages show it: for every flow and outcome, and for messages from before."""

import re
from pathlib import Path

import pytest
from flask import render_template_string

from admin.conversations.trace_view import NODES, NOTES, trace_view
from server.domain.answer import Answer, Outcome

SHOWN = '{% from "admin/_trace.html" import trace_of %}{{ trace_of(answer) }}'
CANDIDATES = [
    {"chunk": "a", "url": "https://s.example/a", "heading": "Delivery › Islands", "score": 0.9,
     "scores": {"words": 0.7, "dense": 0.6, "page": 0.1}, "text": "Parcels to islands take five days."},
    {"chunk": "b", "url": "https://s.example/b", "heading": "Returns", "score": 0.4, "scores": {"dense": 0.3}},
]  # fmt: skip
WHOLE = {
    "query": "parcels to islands",
    "route": "lookup",
    "candidates": CANDIDATES,
    "floor": {"answerability": 0.81, "floor": 0.35},
    "kept": ["a"],
    "nodes": [
        {"node": "grade_documents", "kept": ["a"], "ms": 3.2},
        {"node": "grade_usefulness", "passed": False, "missing": ["the price"], "ms": 1},
    ],
    "claims": [
        {"text": "Five days.", "support": 0.8, "kept": True, "why": "", "sources": ["a"], "citations": [1]},
        {"text": "Free.", "support": 0.0, "kept": False, "why": "'Free' is not on the cited page",
         "sources": ["b"], "citations": []},
    ],
    "support": 0.8,
    "usage": {"calls": 2, "tokens_in": 1200, "tokens_out": 80, "cost": 0.0012},
    "incidents": [{"kind": "timeout", "message": "small-1 took longer than 30 s"}],
    "prompts": [
        {"step": "write", "system": "You answer visitors.", "user": "Question: <b>?</b>", "reply": "{}", "ms": 12.0,
         "tokens": 300, "cost": 0.001},
        {"step": "grade", "system": "You judge.", "user": "x", "error": "small-1 sent no word within 10 s"},
    ],
}  # fmt: skip


@pytest.fixture
def shown(app):
    def show(**parts):
        made = Answer(parts.pop("outcome", Outcome.ANSWERED), "Five days. [1]", **parts)
        with app.test_request_context("/admin/"):
            return re.sub(r"\s+", " ", render_template_string(SHOWN, answer=made))

    return show


def test_every_part_of_a_trace_is_written_down(shown):
    page = shown(trace=WHOLE, timings_ms={"write": 12.0, "retrieve": 4.0})
    assert "The evidence is 0.81; an answer needs 0.35." in page
    assert "Enough evidence" in page
    assert "Delivery › Islands" in page
    assert "parcels to islands" in page
    assert "Parcels to islands take five days." in page
    assert "&#39;Free&#39; is not on the cited page." in page
    assert "80%" in page
    assert "Citation 1</div>" in page
    assert "Passage 1</div>" in page
    assert "2 calls of the model. Tokens: 1,200 sent, 80 received. Cost: 0.00120." in page
    assert "Small-1 took longer than 30 s." in page or "small-1 took longer than 30 s." in page
    assert "1. Writing (12 ms, 300 tokens, cost 0.00100)" in page
    assert "2. Checking the draft: failed" in page
    assert "small-1 sent no word within 10 s." in page
    assert "Question: &lt;b&gt;?&lt;/b&gt;" in page
    assert "16 ms" in page


def test_candidates_have_a_column_for_each_retriever_and_say_what_was_kept_and_cited():
    view = trace_view(Answer(Outcome.ANSWERED, "", trace=WHOLE))
    assert view.columns == ["Meaning", "Words", "Page"]
    first, second = view.candidates
    assert first.scores == [0.6, 0.7, 0.1]
    assert (first.kept, first.cited) == (True, True)
    assert second.scores == [0.3, None, None]
    assert (second.kept, second.cited) == (False, False), "a removed claim cites nothing"


def test_the_flow_names_passages_by_their_place():
    view = trace_view(Answer(Outcome.ANSWERED, "", trace=WHOLE))
    assert view.nodes[0] == ("Choosing passages", [("kept", "#1")], 3.2)
    asked = "Checking whether the question is answered"
    assert view.nodes[1] == (asked, [("passed", "no"), ("missing", "the price")], 1.0)


def test_each_node_of_a_flow_and_what_it_notes_has_its_words():
    flows = Path(__file__).parents[3] / "server/answering/flows"
    text = "".join((flows / f"{name}.py").read_text() for name in ("self_rag", "corrective", "state_graph"))
    nodes = re.findall(r'"(\w+)": self\._(?!limit|after)', text) + re.findall(r'"node": "(\w+)"', text)
    notes = re.findall(r'"(\w+)":', " ".join(re.findall(r"(?:SEEN:|seen =) (\{.*?\})", text)))
    assert len(nodes) > 10
    assert len(notes) > 10
    assert set(nodes) - set(NODES) == set()
    assert set(notes) - set(NOTES) == set()


def test_the_steps_stand_in_the_order_in_which_they_happen_and_fill_the_bar():
    view = trace_view(Answer(Outcome.ANSWERED, "", timings_ms={"write": 30.0, "guard": 10.0, "odd": 0.0}))
    assert [(step.label, step.start, step.share) for step in view.spent] == [
        ("Checks of the question", 0.0, 25.0),
        ("Writing", 25.0, 75.0),
        ("Odd", 100.0, 0.0),
    ]


def test_too_little_evidence_says_how_much_an_answer_needs(shown):
    page = shown(outcome=Outcome.REFUSED, trace={"floor": {"answerability": 0.1, "floor": 0.35}, "kept": []})
    assert "Too little evidence" in page
    assert "The evidence is 0.10; an answer needs 0.35." in page


@pytest.mark.parametrize(
    ("trace", "words"),
    [
        ({"guard": {"name": "injection", "reason": "it gives orders"}}, "the check “injection” blocked the question. It gives"),
        ({"shortcut": "answer-cache", "from_cache": True}, "the same question was answered before."),
        ({"shortcut": "curated", "curated": {"id": 4, "likeness": 0.91}}, "number 4, similarity 0.91"),
        ({"declined_by": "small-1"}, "The model small-1 said that these passages hold no answer."),
    ],
)  # fmt: skip
def test_what_was_not_searched_says_where_it_came_from(shown, trace, words):
    assert words in shown(trace=trace)


@pytest.mark.parametrize(
    "trace",
    [
        {"candidates": [{"chunk": "lantern-0", "score": 0.91}]},
        {"candidates": [{"id": "x", "score": "high", "dense": 0.5, "heading": 0.3}], "removed": [{"claim": "So."}]},
        {"candidates": "none", "claims": {"a": 1}, "nodes": [3], "floor": 0.3, "kept": "a", "prompts": [None]},
        {"claims": [{}], "nodes": [{}], "usage": {"calls": None}, "support": "low", "incidents": [{}]},
        {"usage": {"calls": 1}, "floor": {"answerability": None}, "timings": None},
        {"prompts": [{}], "candidates": [{"scores": {"dense": None}}], "claims": [{"sources": "x", "citations": [None]}]},
    ],
)  # fmt: skip
def test_traces_of_another_form_never_break_the_page(shown, trace):
    assert "How this answer was made" in shown(trace=trace)


def test_what_older_messages_tell_is_shown():
    trace = {
        "candidates": [
            {"chunk": "x", "score": 0.5, "dense": 0.4, "heading": 0.2, "url": "https://s.example/"}
        ],
        "removed": [{"claim": "Free.", "reason": "not supported"}],
    }
    view = trace_view(Answer(Outcome.ANSWERED, "", trace=trace))
    assert view.candidates[0].scores == [0.4, 0.2]
    assert view.claims[0].why == "not supported"


def test_an_answer_without_a_trace_shows_nothing(shown):
    assert shown().strip() == ""


def test_text_of_pages_visitors_and_models_does_nothing(shown):
    evil = "<script>alert(1)</script>"
    row = {
        "chunk": evil,
        "url": f"javascript:{evil}",
        "heading": evil,
        "why": evil,
        "text": evil,
        "scores": {evil: 1},
    }
    page = shown(
        trace={
            "query": evil, "route": evil, "candidates": [row], "shortcut": evil, "kept": [evil],
            "claims": [{"text": evil, "why": evil, "kept": False}], "nodes": [{"node": evil, evil: evil}],
            "prompts": [{"step": evil, "system": evil, "user": evil, "reply": evil, "error": evil}],
            "incidents": [{"message": evil}], evil: evil,
        },
        timings_ms={evil: 1.0},
    )  # fmt: skip
    assert "<script" not in page.lower()
    assert 'href="javascript' not in page


def test_how_an_answer_was_searched_is_said_in_the_words_of_the_settings():
    facts = trace_view(Answer(Outcome.ANSWERED, "", strategy="hybrid", flow="direct", trace=WHOLE)).facts
    assert ("Search method", "Words and meaning together (standard)") in facts
    assert ("Checks", "Answer at once (standard)") in facts
