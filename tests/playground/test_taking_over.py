"""Settings that were tried in the playground become the site's."""

import pytest

from server.domain.roles import Role
from tests.playground.test_asking import words


@pytest.fixture
def use(dashboard):
    def press(run_id, way, role=Role.EDITOR):
        browser = dashboard.as_role(role)
        at = f"/admin/playground/{run_id}"
        return browser.send(at if role is not Role.VIEWER else "/admin/", {"way": way}, f"{at}/use")

    return press


def test_search_flow_floor_switches_and_wording_are_taken_over(dashboard, runtime, use):
    run_id, _ = dashboard.ask(
        strategy_1="dense",
        flow_1="self-rag",
        floor="0.5",
        tone="formal",
        instructions="Say members.",
        tune_hyde="on",
    )
    crawls = len(runtime.stores.crawls.history("shop", 100))
    assert use(run_id, "2").status_code == 302
    site = runtime.stores.sites.get("shop")
    assert (site.strategy, site.flow) == ("dense", "self-rag")
    assert site.options["relevance_floor"] == 0.5
    assert site.options["tuning"] == {"hyde": True}
    assert (site.options["tone"], site.options["instructions"]) == ("formal", "Say members.")
    assert len(runtime.stores.crawls.history("shop", 100)) == crawls + 1, (
        "another search needs all of the site"
    )
    entry = runtime.people.audit.recent(limit=1)[0]
    assert entry.operator == "editor@example.com"
    assert entry.action == "took settings over from the playground"
    assert entry.site_id == "shop"
    assert entry.details["changes"]["flow"] == ["direct", "self-rag"]


def test_the_same_search_needs_no_crawl(dashboard, runtime, use):
    run_id, _ = dashboard.ask(flow_0="corrective")
    crawls = len(runtime.stores.crawls.history("shop", 100))
    use(run_id, "1")
    assert runtime.stores.sites.get("shop").flow == "corrective"
    assert len(runtime.stores.crawls.history("shop", 100)) == crawls


def test_what_the_site_does_already_changes_nothing(dashboard, runtime, use):
    run_id, _ = dashboard.ask(curated="off", prompts="off", retrieve_limit="3")
    before, entries = runtime.stores.sites.get("shop"), len(runtime.people.audit.recent(limit=500))
    use(run_id, "1")
    page = dashboard.as_role(Role.EDITOR).get("/admin/playground").text
    assert "The site uses these settings already." in words(page)
    assert runtime.stores.sites.get("shop") == before
    assert len(runtime.people.audit.recent(limit=500)) == entries


def test_a_viewer_may_not(dashboard, runtime, use):
    run_id, _ = dashboard.ask(flow_0="corrective")
    assert use(run_id, "1", Role.VIEWER).status_code == 403
    assert runtime.stores.sites.get("shop").flow == "direct"


def test_asking_leaves_no_entry_in_the_audit_log(dashboard, runtime):
    entries = len(runtime.people.audit.recent(limit=500))
    dashboard.ask()
    assert len(runtime.people.audit.recent(limit=500)) == entries


def test_a_question_is_saved_to_a_test_set(dashboard, runtime):
    run_id, page = dashboard.ask()
    assert "Save to a test set" in words(page)
    at = f"/admin/playground/{run_id}"
    fields = {
        "question": "How long?",
        "testset": "",
        "name": "From the playground",
        "answerable": "1",
        "url": "",
        "next": at,
    }
    sent = dashboard.as_role(Role.EDITOR).send(at, fields, "/admin/sites/shop/quality/cases")
    assert sent.status_code == 302
    assert sent.headers["Location"].endswith(at)
    assert "From the playground" in [one.name for one in runtime.quality.testsets.all("shop")]
