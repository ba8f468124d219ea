"""E-mails about accounts, the events on their page, links that are asked for, and codes outside addresses."""

import re
import statistics
import threading
import time

import pyotp
import pytest

from admin import letters
from server.domain.roles import Role
from tests.admin.conftest import EMAIL, PASSWORD, Browser, log_in, make_app
from tests.admin.tabs import opened
from tests.admin.test_look import check

NEW = "quiet lanterns by the harbour"
FIREFOX = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"
SAFARI = "Mozilla/5.0 (iPhone; CPU iPhone OS 17_0 like Mac OS X) AppleWebKit/605.1.15 Safari/604.1"


class Post:
    """Letters that left, in place of a mail server: (to, subject, text)."""

    def __init__(self, monkeypatch):
        self._letters = []
        monkeypatch.setattr(letters, "send", lambda _, *letter: self._letters.append(letter))

    def take(self):
        """What was sent since the last call."""
        threads = letters._posting._max_workers
        free = threading.Barrier(threads)  # passed when every thread has nothing else to do
        for waiting in [letters._posting.submit(free.wait, 30) for _ in range(threads)]:
            waiting.result()
        taken, self._letters = self._letters, []
        return taken


@pytest.fixture
def post(monkeypatch):
    return Post(monkeypatch)


@pytest.fixture
def mailing(make_runtime, password_hash):
    """A Docent with a mail server and an owner."""
    runtime = make_runtime(
        smtp_url="smtp://mail.example:25",
        mail_from="docent@example.com",
        public_url="https://chat.example.com",
    )
    runtime.people.operators.create(EMAIL, password_hash)
    return runtime


@pytest.fixture
def owner(mailing):
    browser = Browser(make_app(mailing), base_url="https://chat.example.com")
    log_in(browser)
    return browser


def enter(app, agent=FIREFOX, address="203.0.113.9", email=EMAIL):
    browser = Browser(app, base_url="https://chat.example.com")
    options = {"headers": {"User-Agent": agent}, "environ_overrides": {"REMOTE_ADDR": address}}
    assert log_in(browser, email=email, **options).status_code == 302
    return browser


def test_a_sign_in_from_a_new_place_or_browser_is_told(mailing, post):
    app = make_app(mailing)
    enter(app)
    assert post.take() == [], "the first of all is not new"
    enter(app, address="203.0.113.77")
    assert post.take() == [], "the same network and browser"
    enter(app, SAFARI)
    [(to, subject, text)] = post.take()
    assert (to, subject) == (EMAIL, "Docent: Someone logged in from a new place or browser")
    assert "Browser: Safari on iPhone" in text
    assert "Address: 203.0.113.9" in text
    enter(app, address="2001:db8::1")
    assert len(post.take()) == 1
    enter(app, address="2001:db8:0:1::5")
    assert post.take() == []


def test_a_changed_password_or_factor_is_notified(mailing, owner, post):
    fields = {"current": PASSWORD, "new": NEW, "again": NEW}
    owner.send("/admin/account", fields, "/admin/account/password")
    page = owner.get("/admin/account/second-factor").text
    secret = re.search(r"<code>([A-Z2-7]{32})</code>", page)[1]
    owner.send("/admin/account/second-factor", {"code": pyotp.TOTP(secret).now()})
    owner.send("/admin/account", {"second-current": NEW}, "/admin/account/recovery-codes")
    owner.send("/admin/account", {"second-current": NEW}, "/admin/account/second-factor/off")
    assert [subject for _, subject, _ in post.take()] == [
        "Docent: Your password was changed",
        "Docent: Your second factor was turned on",
        "Docent: New recovery codes for your account were made",
        "Docent: Your second factor was turned off",
    ]
    shown = owner.get("/admin/account").text
    for event in ("Changed the own password", "Turned the second factor on", "Made new recovery codes"):
        assert event in shown


def test_what_an_owner_does_to_an_account_is_told_and_shown_there(mailing, owner, post, password_hash):
    ben = mailing.people.operators.create("ben@example.com", password_hash, Role.EDITOR)
    mailing.people.operators.set_second_factor(ben, "sealed", 0, [])
    owner.send("/admin/settings/people", {}, f"/admin/settings/people/{ben}/second-factor/off")
    assert [(to, subject) for to, subject, _ in post.take()] == [
        ("ben@example.com", "Docent: An owner turned your second factor off")
    ]
    shown = enter(make_app(mailing), email="ben@example.com").get("/admin/account").text
    assert "Turned a second factor off" in shown
    assert f"by {EMAIL}" in shown


def test_without_a_mail_server_nothing_is_sent_and_the_page_shows_it(app, operator, operator_id, post):
    log_in(Browser(app), headers={"User-Agent": FIREFOX}, environ_overrides={"REMOTE_ADDR": "203.0.113.9"})
    log_in(Browser(app), headers={"User-Agent": SAFARI}, environ_overrides={"REMOTE_ADDR": "198.18.0.1"})
    log_in(Browser(app), "wrong")
    assert post.take() == []
    shown = operator.get("/admin/account").text
    assert "New place or browser" in shown
    assert "198.18.0.1" in shown
    assert "wrong password" in shown


def test_a_mail_server_that_fails_changes_nothing(mailing, monkeypatch, caplog):
    def fails(*_):
        raise letters.NotDelivered("mail.example:25 cannot be reached")

    monkeypatch.setattr(letters, "send", fails)
    app = make_app(mailing)
    enter(app)
    assert enter(app, SAFARI).get("/admin/").status_code == 200
    letters._posting.submit(lambda: None).result()
    time.sleep(0.1)
    assert "a letter to an operator was not sent" in caplog.text


def ask(browser, email, **options):
    return browser.send("/admin/forgot-password", {"email": email}, **options)


def test_who_forgot_the_password_gets_a_link_that_works_once(mailing, post):
    app = make_app(mailing)
    browser = Browser(app, base_url="https://chat.example.com")
    assert "Forgot your password?" in browser.get("/admin/login").text
    assert "a link is on its way" in ask(browser, f" {EMAIL.upper()} ").text
    [(to, _, text)] = post.take()
    assert to == EMAIL
    token = re.search(r"https://chat.example.com/admin/new-password#token=([\w-]+)", text)[1]
    assert f"For {EMAIL}." in browser.send("/admin/new-password", {"token": token}).text
    fields = {"token": token, "password": NEW, "again": NEW}
    assert browser.send("/admin/new-password", fields).location == "/admin/"
    assert (
        Browser(app, base_url="https://chat.example.com").send("/admin/new-password", fields).status_code
        == 403
    )


def test_an_unknown_address_gets_the_same_answer_and_no_letter(mailing, post):
    browser = Browser(make_app(mailing), base_url="https://chat.example.com")
    strip = re.compile(r'value="[^"]+"')
    known, unknown = (strip.sub("", ask(browser, email).text) for email in (EMAIL, "nobody@example.com"))
    assert known == unknown
    assert [to for to, _, _ in post.take()] == [EMAIL]


def test_an_unknown_address_takes_the_same_time(mailing, post, monkeypatch):
    """Looking the account up and making the link happen after the answer."""
    browser = Browser(make_app(mailing), base_url="https://chat.example.com")
    monkeypatch.setattr(letters._posting, "submit", lambda *_: None)

    def spent(email):
        times = []
        for _ in range(9):
            started = time.process_time()
            ask(browser, email)
            times.append(time.process_time() - started)
        return statistics.median(times)

    spent(EMAIL)
    assert 0.5 < spent("nobody@example.com") / spent(EMAIL) < 2.0


def test_an_account_is_not_flooded_with_links(mailing, post):
    browser = Browser(make_app(mailing), base_url="https://chat.example.com")
    for number in range(5):
        ask(browser, EMAIL, environ_overrides={"REMOTE_ADDR": f"198.18.{number}.1"})
    assert len(post.take()) == 3


def test_without_a_mail_server_the_login_says_whom_to_ask(client, operator_id):
    assert "Ask an owner of this Docent" in client.get("/admin/login").text
    assert client.get("/admin/forgot-password").location == "/admin/login"


def test_links_of_earlier_versions_still_open(client, runtime, operator_id):
    token = runtime.people.links.invite("cleo@example.com", Role.VIEWER, EMAIL)
    assert f'value="{token}"' in client.get(f"/admin/welcome?token={token}").text


def test_the_code_of_a_link_is_in_no_address_that_the_server_sees(browser, address, runtime, app):
    token = runtime.people.links.invite("cleo@example.com", Role.VIEWER, EMAIL)
    seen = []
    with opened(browser, address, "phone", "light", expected=()) as tab:
        tab.on("request", lambda request: seen.append((request.url, request.headers.get("referer", ""))))
        tab.goto(f"/admin/welcome#token={token}")
        tab.get_by_label("Password", exact=True).fill(NEW)
        tab.get_by_label("Password again").fill(NEW)
        tab.keyboard.press("Enter")
        tab.wait_for_url("**/admin/")
    assert runtime.people.operators.find("cleo@example.com").role is Role.VIEWER
    assert token not in repr(seen[1:])
    assert "?" not in "".join(url for url, _ in seen if "welcome" in url)


@pytest.mark.parametrize(("size", "scheme"), [("phone", "light"), ("desk", "dark")])
def test_the_pages_before_a_login_are_readable(browser, address, runtime, operator_id, size, scheme):
    runtime.configuration.live.change(
        {"smtp_url": "smtp://127.0.0.1:1?tls=off", "mail_from": "docent@example.com"}, EMAIL
    )
    with opened(browser, address, size, scheme) as tab:
        for name, path in (("login", "login"), ("forgot", "forgot-password"), ("link", "welcome")):
            tab.goto(f"/admin/{path}")
            check(tab, name, size, scheme)
        tab.goto("/admin/forgot-password")
        tab.get_by_label("E-mail").fill("nobody@example.com")
        tab.keyboard.press("Enter")
        tab.get_by_text("a link is on its way").wait_for()
        check(tab, "forgot_sent", size, scheme)
