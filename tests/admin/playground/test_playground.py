"""The playground's pages where nothing is asked: what was stored, for whom, and where they lead."""

import re
import threading
import time
from datetime import UTC, datetime, timedelta

from server.domain.roles import Role
from server.jobs.upkeep import Tidying
from server.playground.store import ASKING
from tests.admin.samples_playground import RUN


def test_the_form_offers_every_strategy_and_lists_what_was_asked(operator, busy):
    page = operator.get("/admin/playground").text
    for name in ("hybrid", "lightrag", "auto"):
        assert f'<option value="{name}">' in page
    assert f"/admin/playground/{RUN}" in page
    assert "30 days" in page


def test_without_a_site_it_says_what_to_do(operator):
    page = operator.get("/admin/playground").text
    assert "Add a site first, then ask it." in page
    assert "/admin/new-site" in page


def test_a_stored_run_compares_its_ways(operator, busy):
    page = re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", operator.get(f"/admin/playground/{RUN}").text))
    assert "Different" in page
    assert "finds Returns" in page
    assert "Not built" in page
    assert "34 calls of the model, at most 74,293 tokens. That costs at most 0.1253." in page
    assert "It took longer than 120 s, which PLAYGROUND_SECONDS allows." in page
    assert "The provider limits the rate of calls." in page
    assert "1,265" in page


def test_variants_are_named_in_the_words_of_the_form(operator, busy):
    page = operator.get(f"/admin/playground/{RUN}").text
    assert "Words and meaning together (standard), Answer at once (standard)" in page
    assert "hybrid, direct" not in page


def test_a_message_leads_to_the_playground(operator, busy):
    page = operator.get(f"/admin/conversations/{busy.conversation_id}").text
    found = re.search(r'href="(/admin/playground\?message=[0-9a-z-]+)"', page)[1]
    form = operator.get(found).text
    assert "</textarea>" in form
    assert re.search(r'<option value="lantern" selected>', form)


def test_a_run_is_removed_after_its_days_and_beyond_its_number(runtime, site):
    runs = runtime.stores.playground_runs
    ids = [runs.start("lantern", f"Question {n}?", {"typed": {}, "ways": []}, 1, "ada").id for n in range(4)]
    assert runs.prune("lantern", most=3) == 1
    assert [run.id for run in runs.recent(10)] == ids[:0:-1]
    tidying = Tidying(runtime.database, lambda: runtime.configuration.settings)
    ending = threading.Event()
    assert tidying.forget_runs(datetime.now(UTC) + timedelta(days=29), ending) == 0
    assert tidying.forget_runs(datetime.now(UTC) + timedelta(days=31), ending) == 3
    assert runs.recent(10) == []


def test_a_shutdown_ends_the_removal_of_old_runs_after_a_batch(runtime, site, monkeypatch):
    monkeypatch.setattr("server.playground.store.REMOVED_AT_ONCE", 1)
    monkeypatch.setattr("server.jobs.upkeep.PAUSE_S", 30.0)
    runs = runtime.stores.playground_runs
    for number in range(3):
        runs.start("lantern", f"Question {number}?", {"typed": {}, "ways": []}, 1, "ada")
    tidying = Tidying(runtime.database, lambda: runtime.configuration.settings)
    ending, later = threading.Event(), datetime.now(UTC) + timedelta(days=31)
    removal = threading.Thread(target=tidying.forget_runs, args=(later, ending))
    removal.start()
    while removal.is_alive() and len(runs.recent(10)) == 3:
        time.sleep(0.01)
    ending.set()
    removal.join(timeout=10)
    assert not removal.is_alive()
    assert len(runs.recent(10)) == 2


def test_what_came_late_changes_nothing(runtime, site):
    run = runtime.stores.playground_runs.start("lantern", "Why?", {"typed": {}, "ways": []}, 2, "ada")
    assert runtime.stores.playground_runs.finish(run.id, 0, "done", {"a": 1})
    assert not runtime.stores.playground_runs.finish(run.id, 0, "failed", {"b": 2})
    assert not runtime.stores.playground_runs.finish(run.id, 7, "done", {})
    assert [(way.state, way.result) for way in runtime.stores.playground_runs.get(run.id).variants] == [
        ("done", {"a": 1}),
        (ASKING, {}),
    ]


def test_a_viewer_sees_a_run_without_its_forms(app, operator, runtime, busy):
    operator_id = next(one.id for one in runtime.people.operators.all())
    runtime.people.operators.create("second@example.com", "x", Role.OWNER)
    runtime.people.operators.set_role(operator_id, Role.VIEWER)
    page = operator.get(f"/admin/playground/{RUN}").text
    assert "Use this for the site" not in page
    assert "Ask again" not in page
    assert "Parcels to islands take five working days." in page
