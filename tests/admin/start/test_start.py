"""The first steps: each is left and taken up again, and what fails says beside its field what to do."""

from dataclasses import replace

import pytest

from admin.start.walk import DISMISSED, MARKS
from server.domain.contact import ContactOptions
from server.domain.protocols import ModelError
from server.domain.roles import Role
from server.domain.site import DOCS_ID, Site
from tests.admin.conftest import Browser, log_in
from tests.admin.samples import make_crawl
from tests.crawl_runs import begin_crawl

STEPS = "/admin/sites/lantern/start"


@pytest.fixture
def walked(runtime, site):
    """The site of somebody who is led through the first steps."""
    runtime.stores.sites.change("lantern", lambda now: replace(now, options={**now.options, MARKS: []}))
    return runtime.stores.sites.get("lantern")


def marks(runtime):
    return runtime.stores.sites.get("lantern").options[MARKS]


def add_docs(runtime):
    runtime.stores.sites.create(Site(DOCS_ID, "Docs", "", ("http://127.0.0.1/docs/",)))


def test_without_a_site_the_first_step_is_an_address(operator, runtime):
    add_docs(runtime)
    assert operator.get("/admin/start").location == "/admin/new-site"
    assert "Next: Address" in operator.get("/admin/").text


def test_the_checklist_leads_to_the_first_step_that_is_not_done(operator, runtime, walked):
    page = operator.get("/admin/").text
    assert "First steps with Lantern Shop" in page
    assert "2 of 7 done" in page, "the address and the crawl"
    assert operator.get("/admin/start").location == f"{STEPS}/questions"


def test_a_dismissed_checklist_stays_away(operator, runtime, walked):
    assert operator.send("/admin/", {}, "/admin/start/dismiss").location == "/admin/"
    assert "First steps" not in operator.get("/admin/").text
    assert marks(runtime) == [DISMISSED]
    assert operator.get("/admin/start").location == "/admin/"


def test_without_a_site_of_their_own_it_can_be_dismissed_too(operator, runtime):
    add_docs(runtime)
    operator.send("/admin/", {}, "/admin/start/dismiss")
    assert "First steps" not in operator.get("/admin/").text


def test_sites_that_were_there_before_have_no_checklist(operator, site):
    assert "First steps" not in operator.get("/admin/").text
    assert operator.get(f"{STEPS}/look").status_code == 200, "its pages can be opened all the same"


def test_a_viewer_is_not_led(app, runtime, walked, password_hash):
    runtime.people.operators.create("vera@example.com", password_hash, Role.VIEWER)
    browser = Browser(app)
    log_in(browser, email="vera@example.com")
    assert "First steps" not in browser.get("/admin/").text
    assert browser.get("/admin/start").status_code == 403


def test_an_editor_has_no_step_for_the_model(app, runtime, walked, password_hash):
    runtime.people.operators.create("ed@example.com", password_hash, Role.EDITOR)
    browser = Browser(app)
    log_in(browser, email="ed@example.com")
    assert "2 of 6 done" in browser.get("/admin/").text
    assert browser.get(f"{STEPS}/model").status_code == 403
    assert 'name="smtp_url"' not in browser.get(f"{STEPS}/messages").text


def test_sites_of_before_the_first_person_are_walked_through(client, runtime, site):
    token = runtime.people.operators.setup_token()
    words = {"password": "correct horse battery", "again": "correct horse battery"}
    answer = client.send("/admin/setup", {"token": token, "email": "ada@example.com", **words})
    assert answer.location == "/admin/start"
    assert client.get("/admin/start").location == f"{STEPS}/questions"


def test_the_crawl_is_followed_with_its_pages(operator, runtime, walked):
    make_crawl(runtime)
    state = operator.get(f"{STEPS}/crawl/progress").json
    assert state["active"] is False
    assert "3 pages are ready for questions." in state["html"]
    assert "Next: Try it" in state["html"]


@pytest.fixture
def failed(runtime):
    """A site whose first crawl found nothing."""
    site = Site("pic", "shop.example", "", ("https://shop.example/pic.png",), options={MARKS: []})
    runtime.stores.sites.create(site)
    crawl_id = begin_crawl(runtime.stores.crawls, "pic")
    runtime.stores.crawls.finish(crawl_id, "failed", "image/png is not read: start from an HTML page")


@pytest.mark.parametrize("page", ["/admin/sites/pic", "/admin/sites/pic/start/crawl"])
def test_a_failed_first_crawl_is_said_at_the_address_and_corrected_there(operator, runtime, failed, page):
    shown = operator.get(page).text
    assert '<p class="error" id="address-error">image/png is not read: start from an HTML page.</p>' in shown
    assert 'value="https://shop.example/pic.png"' in shown
    typed = {"address": "shop.example/home", "name": "shop.example"}
    answer = operator.send(page, typed, "/admin/sites/pic/address")
    assert answer.location == "/admin/sites/pic/start/crawl"
    assert runtime.stores.sites.get("pic").start_urls == ("https://shop.example/home",)
    assert [run.state for run in runtime.stores.crawls.history("pic")] == ["waiting", "failed"]


def test_name_and_address_of_a_live_site_are_changed(operator, runtime, site):
    page = "/admin/sites/lantern/address"
    answer = operator.send(page, {"address": "https://lantern.example/", "name": "Lamps"})
    assert answer.location == "/admin/sites/lantern"
    assert runtime.stores.sites.get("lantern").name == "Lamps"
    assert runtime.stores.crawls.latest("lantern") is None, "a name needs no crawl"
    operator.send(page, {"address": "https://lamps.example/", "name": "Lamps"})
    moved = runtime.stores.sites.get("lantern")
    assert (moved.name, moved.start_urls) == ("Lamps", ("https://lamps.example/",))
    assert moved.generation == site.generation, "visitors are answered from the old pages meanwhile"
    assert runtime.stores.crawls.latest("lantern").state == "waiting"


def test_an_address_of_another_site_is_refused(operator, runtime, site, failed):
    typed = {"address": "https://lantern.example/", "name": ""}
    answer = operator.send("/admin/sites/pic/address", typed)
    assert answer.status_code == 422
    assert "starts at this address already" in answer.text


def test_three_choices_of_the_look_leave_the_others(operator, runtime, walked):
    look = {"font": "Inter", "accent": "#123456"}
    runtime.stores.sites.change("lantern", lambda now: replace(now, options={**now.options, "look": look}))
    answer = operator.send(f"{STEPS}/look", {"accent": "#7a2048", "position": "left", "theme": ""})
    assert answer.location == "/admin/sites/lantern/embed-check"
    stored = runtime.stores.sites.get("lantern").options["look"]
    assert stored == {"font": "Inter", "accent": "#7a2048", "position": "left"}
    wrong = operator.send(f"{STEPS}/look", {"accent": "red", "position": "", "theme": ""})
    assert wrong.status_code == 422
    assert 'id="accent-error"' in wrong.text


def test_messages_need_an_address_and_a_test_needs_a_server(operator, runtime, walked):
    page = f"{STEPS}/messages"
    wrong = operator.send(page, {"email": "nobody"})
    assert wrong.status_code == 422
    assert 'id="email-error"' in wrong.text
    without = operator.send(page, {"email": "help@lantern.example", "test": "1"})
    assert without.status_code == 422
    assert "Enter your mail server first." in without.text
    assert ContactOptions.of(runtime.stores.sites.get("lantern").options).email == "help@lantern.example"
    server = {"smtp_url": "smtp://127.0.0.1:9", "mail_from": "chat@lantern.example"}
    refused = operator.send(page, {"email": "help@lantern.example", **server, "test": "1"})
    assert refused.status_code == 422
    assert 'id="smtp_url-error"' in refused.text
    assert "Check the server, the port" in refused.text
    assert operator.send(page, {"email": "help@lantern.example"}).location == f"{STEPS}/model"


def test_what_was_typed_about_the_mail_server_is_neither_lost_nor_dropped(operator, runtime, walked):
    page = f"{STEPS}/messages"
    server = {"smtp_url": "smtp://127.0.0.1:9", "mail_from": "chat@lantern.example"}
    wrong = operator.send(page, {"email": "nobody", **server}).text
    assert 'value="smtp://127.0.0.1:9"' in wrong
    assert 'value="chat@lantern.example"' in wrong
    operator.send(
        page, {"email": "help@lantern.example", "smtp_url": "", "mail_from": "chat@lantern.example"}
    )
    assert runtime.configuration.settings.contact.mail_from == "chat@lantern.example"


def test_outside_the_first_steps_a_step_is_saved_and_leads_to_the_site(operator, runtime, site):
    page = f"{STEPS}/messages"
    said = operator.send(page, {"email": "help@lantern.example"}, follow_redirects=True)
    assert said.request.path == "/admin/sites/lantern"
    assert "All steps are done" not in said.text
    assert ContactOptions.of(runtime.stores.sites.get("lantern").options).email == "help@lantern.example"


def test_a_model_that_does_not_answer_is_not_saved(operator, runtime, walked, monkeypatch):
    def fail(settings):
        raise ModelError("wrong_key", "the provider refused the key")

    monkeypatch.setattr("admin.settings.models._ask", fail)
    page = f"{STEPS}/model"
    empty = operator.send(page, {"openai_api_key": "", "openai_base_url": "", "chat_model": ""})
    assert empty.status_code == 422
    answer = operator.send(page, {"openai_api_key": "sk-wrong", "openai_base_url": "", "chat_model": ""})
    assert answer.status_code == 422
    assert 'id="openai_api_key-error"' in answer.text
    assert "does not accept this key" in answer.text
    assert not runtime.configuration.settings.models.uses_chat_model


def test_a_model_that_answers_is_saved_and_the_steps_can_end(operator, runtime, walked, monkeypatch):
    monkeypatch.setattr("admin.settings.models._ask", lambda settings: ("It said 'ready'", 5, 0.0))
    page = f"{STEPS}/model"
    typed = {"openai_api_key": "", "openai_base_url": "http://127.0.0.1:11434/v1", "chat_model": "llama3.1"}
    assert operator.send(page, typed).location == page
    shown = operator.get(page).text
    assert "The model llama3.1 writes the answers." in shown
    assert "Compare before and after" in shown


def test_every_step_can_be_ended_without_doing_it(operator, runtime, walked):
    for step, following in (
        ("look", "embed-check"),
        ("embed", "start/messages"),
        ("model", "start/questions"),
    ):
        answer = operator.send(f"{STEPS}/model", {"step": step}, f"{STEPS}/done")
        assert answer.location == f"/admin/sites/lantern/{following}"
    runtime.stores.sites.change(
        "lantern", lambda now: replace(now, options={**now.options, MARKS: ["questions", "messages", *marks(runtime)]})
    )  # fmt: skip
    answer = operator.send(f"{STEPS}/model", {"step": "model"}, f"{STEPS}/done")
    assert answer.location == "/admin/"
    assert "First steps" not in operator.get("/admin/").text
