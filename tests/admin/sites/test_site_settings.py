"""The settings of a site: everything is saved at once, or nothing."""

from dataclasses import replace

import pytest

from server.answering.floors import CHECK, CHOICES, FloorCheck
from server.domain.roles import Role
from tests.admin.conftest import log_in

PATH = "/admin/sites/lantern/settings"
FIELDS = {"name": "Lantern Shop", "title": "Lantern", "strategy": "hybrid", "flow": "direct", "tone": ""}


def send(operator, **fields):
    return operator.send(PATH, {**FIELDS, **fields})


def test_every_setting_is_kept_and_shown_again(operator, site, runtime):
    given = {
        "main_language": "DE", "strategy": "lightrag[mode=local]", "flow": "self-rag", "refusals": "own", "floor": "0.4", "tone": "formal",
        "instructions": "Call customers members.", "daily_tokens": "5000", "daily_cost": "0.5", "max_pages": "30",
        "max_depth": "3", "delay_s": "0.5", "concurrency": "2",
    }  # fmt: skip
    assert send(operator, **given).status_code == 302
    kept = runtime.stores.sites.get("lantern")
    assert (kept.language, kept.strategy, kept.flow) == ("de", "lightrag[mode=local]", "self-rag")
    options = {
        name: kept.options[name] for name in ("relevance_floor", "tone", "daily_cost", "max_pages", "delay_s")
    }
    assert options == {
        "relevance_floor": 0.4,
        "tone": "formal",
        "daily_cost": 0.5,
        "max_pages": 30,
        "delay_s": 0.5,
    }
    shown = operator.get(PATH).text
    for text in ("lightrag[mode=local]", "Call customers members.", 'value="5000"', 'value="0.4"'):
        assert text in shown


def test_what_is_emptied_is_as_the_installation_has_it_again(operator, site, runtime):
    send(operator, refusals="own", floor="0.4", tone="brief", max_pages="30")
    send(operator)
    options = runtime.stores.sites.get("lantern").options
    assert not {"relevance_floor", "tone", "max_pages"} & options.keys()


def test_what_a_crawl_learned_is_kept(operator, site, runtime):
    runtime.stores.sites.change("lantern", lambda found: type(found)(**{
        **{name: getattr(found, name) for name in found.__slots__}, "options": {"topics": ["Lamps"]}}))  # fmt: skip
    send(operator, tone="brief")
    assert runtime.stores.sites.get("lantern").options["topics"] == ["Lamps"]


WRONG = [
    ("name", " ", "Write what you call the site."),
    ("name", "x" * 101, "Choose a shorter name."),
    ("main_language", "german", "Write a language code"),
    ("strategy", "magic", "known: dense"),
    ("strategy", "hybrid[a=1]", "no options of its own"),
    ("strategy", "lightrag[mode=sideways]", "mode"),
    ("strategy", "", "Choose a strategy"),
    ("flow", "magic", "Not a valid choice"),
    ("tone", "rude", "Not a valid choice"),
    ("refusals", "never", "Not a valid choice"),
    ("refusals", "own", "Write a number from 0 to 1 under Advanced"),
    ("floor", "1.5", "Write a number from 0 to 1"),
    ("floor", "NaN", "Write a number from 0 to 1"),
    ("floor", "high", "Write a number, or leave it empty."),
    ("instructions", "x" * 1001, "The limit is 1,000 characters."),
    ("daily_tokens", "-1", "Write a number from 0"),
    ("daily_tokens", "many", "Write a number, or leave it empty."),
    ("max_pages", "0", "Write a number from 1"),
    ("concurrency", "1000", "Write a number from 1 to 64"),
    ("delay_s", "61", "Write a number from 0 to 60"),
]
"""(field, what is typed into it, what is said)"""


def test_bad_input_is_said_beside_the_field_and_nothing_is_saved(operator, site, runtime):
    before, unsaid = runtime.stores.sites.get("lantern"), []
    for field, value, says in WRONG:
        answer = send(operator, **{"tone": "formal", field: value})
        is_said = says in answer.text and "Nothing is saved yet" in answer.text
        if not (answer.status_code == 422 and is_said and runtime.stores.sites.get("lantern") == before):
            unsaid.append((field, value, answer.status_code))
    assert unsaid == []


def test_numbers_are_taken_with_a_comma_too(operator, site, runtime):
    assert send(operator, daily_cost="2,5", delay_s="0,5").status_code == 302
    options = runtime.stores.sites.get("lantern").options
    assert (options["daily_cost"], options["delay_s"]) == (2.5, 0.5)


@pytest.fixture
def checked(site, runtime):
    """The site with 40 questions of each kind: at the default floor, one is refused and half are answered."""
    check = FloorCheck((0.1, *[0.7] * 39), (*[0.1] * 20, *[0.3] * 19, 0.5), "2026-05-31", 1)
    kept = {CHECK: check.to_json(runtime.engine.query_embedder.fingerprint)}
    return runtime.stores.sites.change("lantern", lambda found: replace(found, options=found.options | kept))


@pytest.mark.parametrize("choice", CHOICES)
def test_a_choice_of_refusals_is_kept_and_shown_again_without_the_number(operator, checked, runtime, choice):
    assert send(operator, refusals=choice, floor="0.4").status_code == 302
    assert runtime.stores.sites.get("lantern").options["relevance_floor"] == choice
    shown = operator.get(PATH).text
    assert f'<option selected value="{choice}">' in shown
    assert 'value="0.4"' not in shown
    send(operator)
    assert "relevance_floor" not in runtime.stores.sites.get("lantern").options


def test_what_to_expect_of_each_choice_is_said_in_words(operator, checked):
    send(operator, refusals="refuse_more")
    shown = " ".join(operator.get(PATH).text.split())
    assert (
        "<strong>Balanced (default)</strong>: at this setting (floor 0.30) Docent would have answered "
        "50% (37% to 63%) of 40 questions that your site does not answer, and refused 2% (1% to 10%) of 40 that it does."
    ) in shown
    assert "<strong>Refuse more</strong> (saved): at this setting (floor 0.30)" in shown
    assert "Made from your own pages on 31 May 2026" in shown


def test_an_own_number_has_its_line_too(operator, checked):
    send(operator, refusals="own", floor="0.4")
    shown = operator.get(PATH).text
    assert (
        "<strong>Own number</strong> (saved): at this setting (floor 0.40) Docent would have answered 2%"
        in shown
    )


def test_too_few_sections_are_said_and_so_is_a_check_that_was_not_made(operator, site, runtime):
    assert "until the next crawl" in operator.get(PATH).text
    few = FloorCheck((0.5,), (0.1,), "2026-05-31", 1).to_json(runtime.engine.query_embedder.fingerprint)
    runtime.stores.sites.change("lantern", lambda found: replace(found, options={CHECK: few}))
    assert "too few sections" in operator.get(PATH).text


def test_another_strategy_has_the_site_read_again(operator, site, runtime):
    send(operator, strategy="lexical")
    assert runtime.stores.crawls.latest("lantern").state == "waiting"


def test_the_same_settings_read_nothing_again(operator, site, runtime):
    answer = send(operator, name=site.name, title=site.title)
    assert answer.status_code == 302
    assert runtime.stores.crawls.latest("lantern") is None


def test_a_change_stands_in_the_audit_log_with_what_it_was(operator, site, runtime):
    send(operator, tone="formal")
    entry = runtime.people.audit.recent(1)[0]
    assert (entry.action, entry.site_id) == ("changed the settings of the site", "lantern")
    assert entry.details["changes"]["tone"] == [None, "formal"]


def test_who_may_only_look_sees_no_button_and_cannot_save(app, client, site, runtime, password_hash):
    runtime.people.operators.create("eve@example.com", password_hash, Role.VIEWER)
    log_in(client, email="eve@example.com")
    assert "Save settings" not in client.get(PATH).text
    for change in ({"tone": "formal"}, {"refusals": "refuse_more"}):
        assert client.send("/admin/", {**FIELDS, **change}, PATH).status_code == 403
    assert not {"tone", "relevance_floor"} & runtime.stores.sites.get("lantern").options.keys()
