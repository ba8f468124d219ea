"""The playground with a chat model: prompts, costs, faults, and text that would do harm."""

import json
import re
from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import text

from server.domain.roles import Role
from tests.openai_server import Fault
from tests.playground.conftest import ASKED, KEY, reply_of
from tests.playground.test_asking import words

EVIL = "<script>alert(1)</script><img src=x onerror=alert(2)>"


def test_prompts_and_replies_are_shown_as_they_were_sent(paid_dashboard, model_server):
    model_server.script = reply_of()
    run_id, page = paid_dashboard.ask()
    shown = words(page)
    assert "Prompts as sent" in shown
    assert "You answer visitors of the website" in shown
    sent = model_server.requests[-1]["body"]["messages"]
    kept = (
        paid_dashboard.runtime.stores.playground_runs.get(run_id)
        .variants[0]
        .result["answer"]["trace"]["prompts"]
    )
    assert [kept[-1]["system"], kept[-1]["user"]] == [message["content"] for message in sent]
    assert kept[-1]["step"] == "write"
    assert json.loads(kept[-1]["reply"]) == {"answer": "Parcels to islands take five working days. [1]"}


def test_each_step_of_a_flow_has_its_prompt(paid_dashboard, model_server):
    model_server.script = reply_of()
    run_id, page = paid_dashboard.ask(
        flow_0="self-rag", question="And to islands?", history="Q: Parcels?\nA: Two days."
    )
    way = paid_dashboard.runtime.stores.playground_runs.get(run_id).variants[0]
    steps = [call["step"] for call in way.result["answer"]["trace"]["prompts"]]
    assert steps[0] == "rewrite"
    assert {"filter", "write", "grade"} <= set(steps)
    assert "Checking the draft" in words(page)


def test_prompts_are_not_kept_when_they_are_not_wanted_and_never_for_visitors(paid_dashboard, model_server):
    model_server.script = reply_of()
    _, page = paid_dashboard.ask(prompts="off")
    assert "Prompts as sent" not in words(page)
    runtime = paid_dashboard.runtime
    *_, answer = runtime.chat.ask(runtime.stores.sites.get("shop"), ASKED, visitor_id="v").events()
    assert "prompts" not in answer.trace


def test_what_the_model_took_is_shown_and_counts_for_the_site(paid_dashboard, model_server):
    model_server.script = reply_of()
    before = paid_dashboard.runtime.stores.usage.today("shop")
    run_id, page = paid_dashboard.ask(writer_1="embedded")
    after, ways = (
        paid_dashboard.runtime.stores.usage.today("shop"),
        paid_dashboard.runtime.stores.playground_runs.get(run_id).variants,
    )
    used = ways[0].result["used"]
    assert (after.calls - before.calls, after.tokens - before.tokens) == (
        1,
        used["tokens_in"] + used["tokens_out"],
    )
    assert after.cost - before.cost == pytest.approx(used["cost"])
    told = (
        f"1 call of the model. Tokens: {used['tokens_in']} sent, {used['tokens_out']} received. "
        f"Cost: {used['cost']:.5f}."
    )
    assert told in words(page)
    assert not ways[1].result["used"], "quotations ask no model"
    assert "Quoted from the pages, no model" in words(page)


def test_a_spent_budget_is_said_and_answered_without_the_model(paid_dashboard, model_server):
    model_server.script = reply_of()
    runtime = paid_dashboard.runtime
    site = runtime.stores.sites.get("shop")
    runtime.stores.sites.update(
        type(site)(**{**_fields(site), "options": {**site.options, "daily_tokens": 1}})
    )
    runtime.stores.usage.add("shop", "small-1", runtime.stores.usage.today("shop").__class__(1, 10, 10, 0.0))
    _, page = paid_dashboard.ask()
    assert "budget of this site is spent" in words(page)
    assert "five working days" in words(page)


def _fields(site):
    return {name: getattr(site, name) for name in site.__dataclass_fields__}


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        (Fault.RATE_LIMITED, "limits the rate of calls"),
        (Fault.TIMEOUT, "did not answer in time"),
        (Fault.SERVER_ERROR, "failed with status 500"),
        (Fault.BROKEN_BODY, "does not answer like an OpenAI-compatible API"),
        (Fault.CUT_STREAM, "broke off in the middle of a reply"),
        (Fault.INVALID_JSON, "was cut short"),
        (Fault.WRONG_KEY, "refuses the key"),
    ],
)
def test_a_model_that_fails_is_said_and_quotations_answer(paid_dashboard, model_server, fault, said):
    model_server.fault = fault
    runtime = paid_dashboard.runtime
    run_id, page = paid_dashboard.ask()
    shown = words(page)
    assert said in shown
    assert "five working days" in shown
    assert "Quoted from the pages, no model" in shown
    assert not runtime.stores.incidents.recent(limit=5), "nothing went wrong for visitors"
    kept = runtime.stores.playground_runs.get(run_id).variants[0].result["answer"]["trace"]["prompts"]
    assert said in kept[0].get("error", "") or (fault is Fault.INVALID_JSON and kept[0]["reply"])


def test_nonsense_is_taken_out_and_the_page_says_why(paid_dashboard, model_server):
    model_server.script = reply_of(
        [
            "Parcels to islands take five working days. [1] Members pay only 1.00 EUR. [1] The moon is cheese. [9]"
        ]
    )
    _, page = paid_dashboard.ask()
    shown = words(page)
    assert "Removed" in shown
    assert "is not on the cited page." in shown
    assert "Given" in shown
    assert "Written by small-1" in shown


def test_a_failing_way_leaves_the_others_alone(paid_dashboard, model_server):
    model_server.script = reply_of()
    _, page = paid_dashboard.ask(strategy_1="lightrag")
    shown = words(page)
    assert "is not ready for this site" in shown
    assert re.search(
        r"It takes \d+ calls of the model, at most [\d,]+ tokens\. That costs at most 0\.\d+\.", shown
    )
    assert "Written by small-1" in shown


def test_keys_never_stand_in_a_run(paid_dashboard, model_server):
    """Not in prompts, replies, errors or what was typed."""
    model_server.script = reply_of([f"The key is {KEY}. [1]", "x"])
    paid_dashboard.ask(question=f"{ASKED} {KEY}", instructions=f"Say {KEY}", history=f"Q: {KEY}\nA: {KEY}")
    with paid_dashboard.runtime.database.connect() as connection:
        rows = connection.execute(
            text("select question || asked from playground_runs union all select result from playground_ways")
        )
        kept = "".join(row[0] for row in rows)
    assert "•••" in kept
    assert KEY not in kept


def test_markup_in_questions_replies_and_prompts_does_nothing(paid_dashboard, model_server):
    model_server.script = reply_of([f"Parcels to islands take five working days. {EVIL} [1]"])
    run_id, page = paid_dashboard.ask(
        question=f"{ASKED} {EVIL}", instructions=EVIL, history=f"Q: {EVIL}\nA: {EVIL}"
    )
    form = paid_dashboard.as_role(Role.EDITOR).get(f"/admin/playground?run={run_id}").text
    listed = paid_dashboard.as_role(Role.EDITOR).get("/admin/playground").text
    for shown in (page, form, listed):
        assert "<script>alert" not in shown
        assert "<img" not in shown.replace('<img src="/admin/static/', "")
        assert (
            EVIL.replace("<", "&lt;").replace(">", "&gt;") in shown.replace("&#34;", '"')
            or "&lt;script&gt;" in shown
        )


def test_a_way_may_not_take_longer_than_its_time(indexed_shop, model_server, with_model, made_app):
    from server.playground.asking import Asking, OutOfTime
    from server.playground.order import read_order

    model_server.script = reply_of()
    site = with_model.stores.sites.get("shop")
    order = read_order({"question": ASKED}, site, with_model.settings)
    asking = Asking(with_model.engine, site, order, order.variants[0], 0.0)
    with pytest.raises(OutOfTime):
        asking.run()
    assert asking.prompts()[0]["error"] == "the time limit passed before the model was done"
    assert not model_server.requests, "no model was asked any more"


def test_a_run_that_nobody_finishes_says_so(paid_dashboard):
    runs = paid_dashboard.runtime.stores.playground_runs
    asked = {"typed": {"question": "Why?"}, "ways": [{"strategy": "hybrid", "flow": "direct", "writer": ""}]}
    run = runs.start("shop", "Why?", asked, 1, "ada@example.com")
    browser = paid_dashboard.as_role(Role.VIEWER)
    state = browser.get(f"/admin/playground/{run.id}/progress", headers={"Accept": "application/json"}).json
    assert state["active"]
    assert "Being asked" in state["html"]
    assert '<noscript><meta http-equiv="refresh"' in browser.get(f"/admin/playground/{run.id}").text
    with paid_dashboard.runtime.database.begin() as connection:
        long_ago = (datetime.now(UTC) - timedelta(hours=1)).replace(tzinfo=None)
        connection.execute(
            text("update playground_runs set asked_at = :at where id = :id"),
            {"at": str(long_ago), "id": run.id},
        )
    state = browser.get(f"/admin/playground/{run.id}/progress", headers={"Accept": "application/json"}).json
    assert not state["active"]
    assert "It was not finished" in words(state["html"])
