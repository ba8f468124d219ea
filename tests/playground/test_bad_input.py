"""Every field of the playground with bad input: it is said beside the field, and nothing is asked."""

import html
import re

import pytest

from server.domain.roles import Role
from server.playground.order import SWITCHES, WrongOrder, allowed, read_order, read_turns, written_turns
from server.settings.tuning import Tuning
from tests.playground.conftest import ASKED


def error_of(page, field):
    found = re.search(rf'<p class="error" id="{field}-error">(.*?)</p>', page, re.S)
    return html.unescape(found[1]) if found else ""


@pytest.mark.parametrize(
    ("field", "value", "said"),
    [
        ("question", "", "Write a question."),
        ("question", "x" * 20_000, "as visitors must"),
        ("site", "nowhere", "Choose a site."),
        ("history", "Nobody asked this.", "Begin with a question"),
        ("history", "Q:\nA: yes", "Write a question behind every Q:."),
        ("history", "Q: a\n" * 7, "Keep to 6 earlier questions."),
        ("history", "Q: " + "x" * 20_001, "Keep to 20,000 characters."),
        ("language", "german", "Write a code such as en or de."),
        ("strategy_0", "magic", "Unknown strategy 'magic'"),
        ("strategy_1", "raptor[layers=many]", "layers=many: write a whole number"),
        ("strategy_1", "hybrid[a=b]", "has no options of its own"),
        ("strategy_2", "x" * 501, "Keep to 500 characters."),
        ("strategy_1", "hybrid", "This variant is there already"),
        ("flow_1", "sideways", "Unknown flow 'sideways'"),
        ("writer_0", "me", "Choose the model or quotations."),
        ("floor", "high", "Write a number from 0 to 1"),
        ("floor", "nan", "Write a number from 0 to 1"),
        ("floor", "1.5", "Write a number from 0 to 1"),
        ("retrieve_limit", "0", "Write a whole number from 1 to 100."),
        ("retrieve_limit", "99999999999999999999", "Write a whole number from 1 to 100."),
        ("retrieve_limit", "١٢", "Write a whole number from 1 to 100."),
        ("tone", "rude", "Choose one of the offered tones."),
        ("instructions", "x" * 1001, "Keep to 1,000 characters."),
        ("curated", "maybe", "Choose on or off."),
        ("answer_cache", "1", "Choose on or off."),
        ("prompts", "yes", "Choose on or off."),
        ("tune_fusion", "best", "Choose one of: weighted, minmax, rrf, reciprocal."),
        ("tune_rerank", "model", "There is no chat model: set CHAT_MODEL first."),
        ("tune_rerank", "cross-encoder", "There is no rerank API: set RERANK_URL first."),
        ("tune_rerank", "twice", "Choose one of: features, model, cross-encoder, none."),
        ("tune_neighbours", "6", "Write 5 or less"),
        ("tune_neighbours", "two", "Write a whole number"),
        ("tune_dense_weight", "2", "Write 1 or less"),
        ("tune_diversity", "inf", "Write 1 or less"),
        ("tune_history_share", "-1", "Write 0 or more"),
        ("tune_page_share", "half", "Write a number"),
        ("tune_title", "often", "Choose one of: short, always, never."),
        ("tune_synthesis", "none", "Choose one of: compact, refine, tree."),
        ("tune_hyde", "perhaps", "Write 1 for yes"),
    ],
)  # fmt: skip
def test_what_cannot_be_asked_is_said_beside_its_field(dashboard, runtime, field, value, said):
    before = len(runtime.stores.playground_runs.recent(100))
    browser = dashboard.as_role(Role.EDITOR)
    typed = {"site": "shop", "question": ASKED, "floor": "0.2", field: value}
    sent = browser.send("/admin/playground", typed)
    assert sent.status_code == 422
    assert said in error_of(sent.text, field)
    assert "Nothing was asked yet" in sent.text
    kept = {name: text for name, text in typed.items() if name != field}
    for text in kept.values():
        assert html.escape(text, quote=True) in sent.text, "what was typed is still there"
    assert len(runtime.stores.playground_runs.recent(100)) == before


def test_all_that_is_wrong_is_said_at_once(runtime):
    site = runtime.stores.sites.get("shop")
    with pytest.raises(WrongOrder) as wrong:
        read_order({"floor": "x", "flow_1": "y"}, site, runtime.configuration.settings)
    assert set(wrong.value.problems) == {"question", "floor", "flow_1"}


def test_every_switch_is_an_option_with_a_setting():
    for name in SWITCHES:
        assert name in Tuning.model_fields
    assert allowed("synthesis") == ("compact", "refine", "tree")
    assert allowed("neighbours") == ()


def test_what_is_not_typed_stays_as_the_site_has_it(runtime):
    site = runtime.stores.sites.get("shop")
    order = read_order({"question": "Why?"}, site, runtime.configuration.settings)
    assert [way.strategy for way in order.variants] == [site.strategy]
    assert order.site(site, order.variants[0]) == site
    assert order.asked_site(site, order.variants[0]).options == {
        **site.options,
        "tuning": {"answer_cache": False},
    }


def test_written_turns_are_read_again_as_they_were():
    text = "Q: What does it cost?\nA: Two prices:\n\n- 4.50 EUR\n Q: is no question here\nQ: And there?"
    turns = read_turns(text, "en")
    assert [turn.question for turn in turns] == ["What does it cost?", "And there?"]
    assert turns[0].answer == "Two prices:\n\n- 4.50 EUR\n Q: is no question here"
    assert written_turns(turns) == text


def test_a_site_that_was_never_read_is_not_asked(dashboard, runtime):
    from server.domain.site import Site

    if runtime.stores.sites.find("new") is None:
        runtime.stores.sites.create(Site("new", "New", "", ("https://new.example/",)))
    sent = dashboard.as_role(Role.EDITOR).send("/admin/playground", {"site": "new", "question": "Why?"})
    assert sent.status_code == 422
    assert "not read yet" in error_of(sent.text, "site")


def test_more_ways_than_one_process_asks_at_once_have_to_wait(dashboard, runtime):
    free = runtime.playground._free
    taken = 0
    while free.acquire(blocking=False):
        taken += 1
    sent = dashboard.as_role(Role.EDITOR).send("/admin/playground", {"site": "shop", "question": ASKED})
    for _ in range(taken):
        free.release()
    assert sent.status_code == 422
    assert "Others are asking" in error_of(sent.text, "question")
    assert dashboard.ask()[0]


@pytest.mark.parametrize("way", ["", "0", "3", "x", "9" * 50])
def test_a_way_that_is_not_there_changes_nothing(dashboard, runtime, way):
    run_id, _ = dashboard.ask()
    before = runtime.stores.sites.get("shop")
    browser = dashboard.as_role(Role.EDITOR)
    sent = browser.send(f"/admin/playground/{run_id}", {"way": way}, f"/admin/playground/{run_id}/use")
    assert sent.status_code == 302
    assert runtime.stores.sites.get("shop") == before
