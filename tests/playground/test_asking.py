"""Asking in the playground: with unsaved settings, side by side, for nobody else to see."""

import re
from dataclasses import replace

import pytest

from server.domain.roles import Role
from tests.playground.conftest import ASKED


def words(page):
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", page))


def test_a_question_is_answered_with_citations_and_the_whole_trace(dashboard):
    _, page = dashboard.ask()
    shown = words(page)
    assert "Parcels to islands take five working days." in shown
    assert "Citations" in shown
    for heading in ("What was found", "What it claims", "Time"):
        assert heading in shown
    assert "Enough evidence" in shown
    assert "100%" in shown
    assert "Its text" in shown


def test_strategies_and_flows_stand_side_by_side(dashboard):
    _, page = dashboard.ask(strategy_1="dense", flow_2="self-rag", strategy_3="lexical", flow_3="corrective")
    shown = words(page)
    for name in (
        "1. Words and meaning together (standard), Answer at once (standard)",
        "2. Meaning alone, Answer at once (standard)",
        "3. Words and meaning together (standard), Check the answer, search again",
        "4. Words alone, Check the results, search again if weak",
    ):
        assert name in shown
    assert "Steps of the answer" in shown, shown[:3000]
    assert "Same as variant 1" in shown


def test_nothing_is_stored_as_a_conversation_or_counted(dashboard, runtime):
    before = runtime.stores.sites.get("shop"), len(runtime.dialogue.conversations.recent("shop", 100))
    dashboard.ask(floor="0.9", tone="formal", tune_hyde="on", strategy_0="dense")
    assert (
        runtime.stores.sites.get("shop"),
        len(runtime.dialogue.conversations.recent("shop", 100)),
    ) == before
    assert not runtime.stores.incidents.recent(limit=10)


def test_a_higher_floor_refuses_what_the_site_answers(dashboard):
    _, page = dashboard.ask(floor="1")
    assert "Too little evidence" in words(page)
    assert "No answer" in words(page)


def test_a_strategy_without_an_index_says_what_building_it_takes(dashboard):
    _, page = dashboard.ask(strategy_1="raptor")
    shown = words(page)
    assert "This search method is not ready for this site" in shown
    assert "It takes no model, only time." in shown
    assert "strategies build --site shop" in shown
    assert "Parcels to islands take five working days." in shown, "the other way answers all the same"


def test_a_site_that_has_words_alone_says_that_the_vectors_are_missing(dashboard, runtime):
    runtime.stores.sites.change("shop", lambda site: replace(site, strategy="lexical"))
    try:
        parts = runtime.engine.parts("shop", runtime.engine.query_embedder)
        kept = parts.vectors.vectors(list(parts.vectors.ids()))
        parts.vectors.remove(list(kept))
        _, page = dashboard.ask(strategy_1="dense")
        assert "This search method is not ready for this site" in words(page)
        assert "five working days" in words(page), "the site's own way answers"
    finally:
        chunks = runtime.stores.content("shop").load(list(kept))
        parts.vectors.add(list(chunks.values()), [kept[id] for id in chunks])


def test_earlier_turns_make_a_question_stand_alone(dashboard):
    _, page = dashboard.ask(
        question="And to islands?", history="Q: How long do parcels take?\nA: Two working days."
    )
    assert "How long do parcels take" in words(page).split("Searched as")[1][:80] or "parcels" in words(page)
    assert "five working days" in words(page)


def test_fewer_passages_are_found_when_fewer_are_asked_for(dashboard, runtime):
    run_id, _ = dashboard.ask(retrieve_limit="2")
    answer = runtime.stores.playground_runs.get(run_id).variants[0].result["answer"]
    assert len(answer["trace"]["candidates"]) == 2


def test_own_answers_may_be_left_out(dashboard, runtime):
    from server.domain.curated import CuratedAnswer

    made = runtime.stores.curated.save(CuratedAnswer.checked("shop", [ASKED], "In a week.", [], ""), "me")
    try:
        _, page = dashboard.ask()
        assert "In a week." in words(page)
        _, page = dashboard.ask(curated="off")
        assert "In a week." not in words(page)
        assert "five working days" in words(page)
    finally:
        runtime.stores.curated.remove("shop", made.id)


def test_visitors_never_get_an_answer_of_the_playground(dashboard, runtime):
    """Not even through the cache of answers, which the playground may read."""
    dashboard.ask(answer_cache="on", tune_title="never")
    dashboard.ask(answer_cache="on")
    exchange = runtime.chat.ask(runtime.stores.sites.get("shop"), ASKED, visitor_id="v")
    *_, answer = exchange.events()
    assert "from_cache" not in answer.trace
    _, page = dashboard.ask(answer_cache="on")
    assert "repeated" in words(page)
    _, page = dashboard.ask()
    assert "repeated" not in words(page)


@pytest.mark.parametrize("role", [Role.VIEWER, Role.OWNER])
def test_a_shared_run_shows_the_same_without_asking_again(dashboard, runtime, role):
    run_id, _ = dashboard.ask()
    other = dashboard.as_role(role).get(f"/admin/playground/{run_id}")
    assert other.status_code == 200
    assert "five working days" in words(other.text)
    assert len(runtime.stores.playground_runs.get(run_id).variants) == 1


def test_the_address_of_a_run_cannot_be_guessed(dashboard):
    first, second = dashboard.ask()[0], dashboard.ask()[0]
    assert first != second
    assert min(len(first), len(second)) >= 22
    assert dashboard.as_role(Role.OWNER).get("/admin/playground/another").status_code == 404


def test_asking_again_fills_the_form(dashboard):
    run_id, page = dashboard.ask(strategy_1="dense", floor="0.5", tune_hyde="on", history="Q: a\nA: b")
    assert f"/admin/playground?run={run_id}" in page
    form = dashboard.as_role(Role.EDITOR).get(f"/admin/playground?run={run_id}").text
    assert 'value="dense"' in form
    assert 'value="0.5"' in form
    assert "Q: a\nA: b" in form.replace("\r", "")
    assert re.search(r'name="tune_hyde">.*?<option value="on" selected>', form, re.S)


def test_viewers_may_not_ask(dashboard):
    browser = dashboard.as_role(Role.VIEWER)
    assert "Only editors and owners can ask" in browser.get("/admin/playground").text
    sent = browser.send("/admin/playground", {"site": "shop", "question": "?"})
    assert sent.status_code == 403


def test_a_message_and_a_gap_fill_the_form(dashboard, runtime):
    site = runtime.stores.sites.get("shop")
    first = runtime.chat.ask(site, "How long do parcels take?", visitor_id="v")
    list(first.events())
    second = runtime.chat.ask(site, "And to islands?", visitor_id="v", conversation_id=first.conversation_id)
    list(second.events())
    form = dashboard.as_role(Role.EDITOR).get(f"/admin/playground?message={second.message_id}").text
    assert ">\r\nAnd to islands?</textarea>" in form or "And to islands?</textarea>" in form
    assert "Q: How long do parcels take?" in form
    assert "Q: And to islands?" not in form
    form = dashboard.as_role(Role.EDITOR).get("/admin/playground?question=Do+you+repair%3F&site=shop").text
    assert "Do you repair?</textarea>" in form
    assert dashboard.as_role(Role.EDITOR).get("/admin/playground?message=none&run=").status_code == 200
