"""A model that has to read more than fits: how many calls it takes, and what each of them holds."""

import json
import re
from dataclasses import replace

import pytest

from server.answering.writing.model_writer import MOST_CALLS, ModelWriter, Synthesis
from server.domain.chunk import Chunk, ScoredChunk
from server.domain.question import Query, Question
from server.models.metered import estimate_tokens


def hits(count):
    return [
        ScoredChunk(
            Chunk(str(n), f"https://shop.example/{n}", "Lamps", (), f"Lamp number {n} costs {n} EUR. " * 12, n, "en"),
            1.0 - n / 100,
        )
        for n in range(1, count + 1)
    ]  # fmt: skip


def run(chat_model, model_server, mode, count, budget=300, reply=None):
    """(numbers of the excerpts in each call, drafts in each call, the claims)."""

    def script(request):
        numbers = re.findall(r'<chunk number="(\d+)"', request["messages"][-1]["content"])
        answer = (
            " ".join(f"Lamp number {n} costs {n} EUR. [{n}]" for n in numbers) or "All lamps have prices. [1]"
        )
        return json.dumps({"answer": answer if reply is None else reply(numbers)})

    model_server.script = script
    writer = ModelWriter(chat_model, "Shop", Synthesis(mode, budget, estimate_tokens))
    question = Question("What do lamps cost?", "shop", (), "en")
    claims = list(writer.write(question, Query(question.text), hits(count)))
    users = [
        request["body"]["messages"][-1]["content"]
        for request in model_server.requests
        if "messages" in request["body"]
    ]
    numbers = [[int(n) for n in re.findall(r'<chunk number="(\d+)"', user)] for user in users]
    return numbers, [user.count("<draft>") for user in users], claims


def test_what_fits_is_one_call_in_the_order_given(chat_model, model_server):
    numbers, drafts, claims = run(chat_model, model_server, "compact", 4, budget=3000)
    assert numbers == [[1, 2, 3, 4]]
    assert drafts == [0]
    assert claims[0].sources == (0,)


@pytest.mark.parametrize(
    ("budget", "read"), [(1000, [1, 2, 3, 4, 5]), (320, [1, 2, 5]), (240, [1, 2]), (1, [1])]
)
def test_compact_leaves_out_what_is_least_relevant_and_takes_one_call(chat_model, model_server, budget, read):
    model_server.script = lambda request: '{"answer": "Lamp number 1 costs 1 EUR. [1]"}'
    best, *others, second = hits(5)
    second = replace(second, score=best.score)  # the second best comes last, because models read the ends
    writer = ModelWriter(chat_model, "Shop", Synthesis("compact", budget, estimate_tokens))
    question = Question("What do lamps cost?", "shop", (), "en")
    assert list(writer.write(question, Query(question.text), [best, *others, second]))
    [request] = model_server.requests
    user = request["body"]["messages"][-1]["content"]
    assert [int(n) for n in re.findall(r'<chunk number="(\d+)"', user)] == read


def test_a_chinese_question_for_one_fact_takes_one_call(chat_model, model_server):
    model_server.script = lambda request: '{"answer": "送料是五元。[1]"}'
    pages = [
        Chunk(str(n), f"https://shop.example/{n}", "送料", (), "配送费用是五元。" * 120, n, "zh")
        for n in range(4)
    ]
    writer = ModelWriter(chat_model, "Shop", Synthesis(measure=estimate_tokens))
    question = Question("配送费用是多少？", "shop", (), "zh")
    assert list(writer.write(question, Query(question.text), [ScoredChunk(page, 1.0) for page in pages]))
    assert len(model_server.requests) == 1


def test_refine_reads_one_excerpt_a_call(chat_model, model_server):
    numbers, drafts, _ = run(chat_model, model_server, "refine", 3, budget=3000)
    assert numbers == [[1], [2], [3]]
    assert drafts == [0, 1, 1]


def test_tree_drafts_from_each_part_and_then_joins_the_drafts(chat_model, model_server):
    numbers, drafts, claims = run(chat_model, model_server, "tree", 4, budget=120)
    assert numbers == [[1], [2], [3], [4], []]
    assert drafts == [0, 0, 0, 0, 4]
    assert claims


@pytest.mark.parametrize("mode", ["compact", "refine", "tree"])
def test_no_question_takes_more_calls_than_allowed(chat_model, model_server, mode):
    numbers, _, _ = run(chat_model, model_server, mode, 30, budget=100)
    assert len(numbers) <= MOST_CALLS


def test_the_budget_is_kept_by_every_call(chat_model, model_server):
    run(chat_model, model_server, "compact", 6, budget=260)
    for request in model_server.requests:
        user = request["body"]["messages"][-1]["content"]
        excerpts = "".join(re.findall(r"<chunk [^>]*>\n(.*?)\n</chunk>", user, re.S))
        assert estimate_tokens(excerpts) <= 260


def test_excerpts_that_add_nothing_leave_the_draft_as_the_answer(chat_model, model_server):
    def reply(numbers):
        return "Lamp number 1 costs 1 EUR. [1]" if "1" in numbers else ""

    _, _, claims = run(chat_model, model_server, "refine", 3, reply=reply)
    assert [claim.text for claim in claims] == ["Lamp number 1 costs 1 EUR."]
