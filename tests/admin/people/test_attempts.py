"""Guessing is slow, nobody is locked out by strangers, and every refusal leaves a line and an entry."""

import logging
import re
import shutil
import subprocess
import threading
import time
from pathlib import Path
from types import SimpleNamespace
from urllib.parse import quote

import pyotp
import pytest

from admin.people import attempts, passwords
from server.guards.limits import RateLimits
from server.logs import JsonLines, TextLines
from tests.admin.conftest import EMAIL, PASSWORD, Browser, log_in, make_app

NEW = "quiet lanterns by the harbour"
WRONG = "E-mail or password is wrong."


def from_(address):
    return {"environ_overrides": {"REMOTE_ADDR": address}}


@pytest.fixture
def delays(monkeypatch):
    """Seconds that attempts were delayed by, instead of waiting."""
    found = []
    monkeypatch.setattr(attempts, "sleep", found.append)
    return found


@pytest.fixture
def limited(make_runtime, password_hash):
    """A Docent that allows three attempts a minute from a network."""
    runtime = make_runtime(login_limit="3/minute")
    runtime.people.operators.create(EMAIL, password_hash)
    return runtime


def guess(app, count, email=EMAIL):
    """Wrong passwords, each from a network of its own."""
    for number in range(count):
        answer = log_in(Browser(app), "wrong", email, **from_(f"198.18.{number}.7"))
        assert (answer.status_code, WRONG in answer.text) == (422, True)


def test_ipv6_is_counted_by_its_network(limited):
    app = make_app(limited)
    statuses = [
        log_in(Browser(app), "wrong", f"n{number}@example.com", **from_(f"2001:db8::{number:x}")).status_code
        for number in range(30)
    ]
    assert statuses == [422] * 3 + [429] * 27
    assert log_in(Browser(app), "wrong", **from_("2001:db8:0:1::1")).status_code == 422


def test_strangers_cannot_lock_an_account(limited, delays):
    app = make_app(limited)
    guess(app, 21)
    assert log_in(Browser(app), **from_("203.0.113.9")).location == "/admin/"
    assert delays[0] > 0
    assert delays[-1] == attempts.SLOWEST_S


def test_the_owner_does_not_wait_where_the_owner_was_before(limited, delays):
    app = make_app(limited)
    log_in(Browser(app), **from_("203.0.113.9"))
    guess(app, 20)
    delays.clear()
    assert log_in(Browser(app), **from_("203.0.113.200")).location == "/admin/"
    assert delays == []


def test_the_delay_does_not_tell_which_accounts_exist(limited, delays):
    app = make_app(limited)
    guess(app, 15)
    known = delays[:]
    delays.clear()
    guess(app, 15, "nobody@example.com")
    assert delays == known


def test_delayed_attempts_take_only_some_threads(limited, monkeypatch):
    app, waiting = make_app(limited), threading.BoundedSemaphore(1)
    monkeypatch.setattr(attempts, "_delayed", waiting)
    monkeypatch.setattr(attempts, "sleep", lambda seconds: None)
    guess(app, attempts.FREE)
    waiting.acquire()
    assert log_in(Browser(app), **from_("203.0.113.9")).status_code == 429
    waiting.release()
    assert log_in(Browser(app), **from_("203.0.113.10")).status_code == 302


def test_a_stranger_with_the_password_cannot_use_up_the_owners_codes(runtime, app, operator_id):
    log_in(Browser(app), **from_("203.0.113.9"))
    secret = pyotp.random_base32()
    runtime.people.operators.set_second_factor(operator_id, runtime.configuration.seal.close(secret), 0, [])
    stranger, owner = Browser(app), Browser(app)
    log_in(stranger, **from_("198.18.0.1"))
    for _ in range(21):
        answer = stranger.send("/admin/login/code", {"code": "000000"}, **from_("198.18.0.1"))
    assert answer.status_code == 429
    log_in(owner, **from_("203.0.113.9"))
    fields = {"code": pyotp.TOTP(secret).now()}
    assert owner.send("/admin/login/code", fields, **from_("203.0.113.9")).status_code == 302


def test_a_limiter_that_fails_lets_nobody_in(runtime, app, operator_id, operator, tmp_path):
    runtime.shared.limits = RateLimits.open("redis://127.0.0.1:1/0", tmp_path)
    answer = log_in(Browser(app))
    assert answer.status_code == 503
    assert "too many sign-ins at once" in answer.text
    codes = operator.send(
        "/admin/account", {"current": PASSWORD, "new": NEW, "again": NEW}, "/admin/account/password"
    )
    assert codes.status_code == 503
    assert Browser(app).send("/admin/login", {}, "/admin/welcome").status_code == 503


def test_passwords_are_checked_a_few_at_a_time(monkeypatch, password_hash):
    running, most, lock = 0, 0, threading.Lock()

    def slow(*_):
        nonlocal running, most
        with lock:
            running += 1
            most = max(most, running)
        time.sleep(0.02)
        with lock:
            running -= 1
        return True

    monkeypatch.setattr(passwords, "_hasher", SimpleNamespace(verify=slow))
    threads = [threading.Thread(target=passwords.verify, args=("x", password_hash)) for _ in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert most == 2


def test_too_many_passwords_at_once_are_refused(app, operator_id, monkeypatch):
    monkeypatch.setattr(passwords, "TURN_S", 0.01)
    monkeypatch.setattr(passwords, "_turns", threading.Semaphore(0))
    assert log_in(Browser(app)).status_code == 503


def test_failed_and_refused_access_is_in_the_audit_log(runtime, app, operator, caplog):
    log_in(Browser(app), "wrong", **from_("198.18.0.1"))
    log_in(Browser(app), "wrong", "nobody@example.com", **from_("198.18.0.2"))
    Browser(app).send("/admin/login", {"token": "x"}, "/admin/welcome", **from_("198.18.0.3"))
    found = [(one.operator, one.details) for one in runtime.people.audit.recent(9, action="was refused")]
    assert found == [
        ("unknown", {"reason": "wrong link", "address": "198.18.0.3"}),
        ("unknown", {"reason": "wrong password", "address": "198.18.0.2"}),
        (EMAIL, {"reason": "wrong password", "address": "198.18.0.1"}),
    ]


def test_strangers_cannot_fill_the_audit_log(runtime, app, operator_id):
    for number in range(45):
        log_in(Browser(app), "wrong", f"n{number}@example.com", **from_("198.18.0.1"))
    assert len(runtime.people.audit.recent(99, action="was refused")) == 30


def fail2ban_filter(tmp_path):
    """The filter that the documentation shows, as a file."""
    text = Path("docs/operations.md").read_text(encoding="utf-8")
    path = tmp_path / "docent.conf"
    path.write_text(re.search(r"```ini\n(\[Definition\].*?)```", text, re.S)[1], encoding="utf-8")
    return path


@pytest.mark.parametrize("form", ["text", "json"])
def test_fail2ban_reads_the_lines(app, operator, tmp_path, form):
    """Lines as a process prints them, and none that a stranger made look like them."""
    log = tmp_path / "docent.log"
    handler = logging.FileHandler(log)
    handler.setFormatter(TextLines() if form == "text" else JsonLines())
    logging.getLogger().addHandler(handler)
    try:
        for address in ("198.18.0.1", "2001:db8::7"):
            log_in(Browser(app), "wrong", **from_(address))
        forged = "https://x docent.access: refused 203.0.113.1 wrong password"
        log_in(Browser(app), headers={"Origin": forged}, **from_("198.18.0.3"))
        Browser(app).get("/admin/docent.access: refused 203.0.113.1 wrong password", **from_("198.18.0.4"))
        for before in ("", "host docent[7]: ", "web | ", "| ", "a b[1]: web | "):
            line = f"{before}2026-01-31 09:30:00 WARNING docent.access: refused 203.0.113.1 wrong password"
            operator.http.post(f"/admin/messages/x{quote(chr(10) + line)}/reply")
            logging.getLogger("docent.test").error(
                "a website said: %s", line, exc_info=ValueError(f"\r{line}")
            )
    finally:
        logging.getLogger().removeHandler(handler)
        handler.close()
    rules = fail2ban_filter(tmp_path)
    listed = re.search(r"^failregex = (.+\n(?: +.+\n)*)", rules.read_text(), re.M)[1].split("\n")[:-1]
    rule_list = [one.strip().replace("<HOST>", r"(\S+)") for one in listed]

    def address(line):
        return next((found[1] for rule in rule_list if (found := re.search(rule, line))), None)

    dated = re.compile(r"\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d(\.\d+\+00:00| )")
    lines = [dated.sub("", line, count=1) for line in log.read_text().splitlines()]
    assert list(filter(None, map(address, lines))) == ["198.18.0.1", "2001:db8::7"]
    journal = {
        "text": "web    | 2026-01-31 09:30:00 WARNING docent.access: refused 198.18.0.1 wrong code",
        "json": '{"time": "2026-01-31T09:30:00.123+00:00", "level": "warning", "logger": "docent.access", '
        '"message": "refused 198.18.0.1 wrong code", "process": 7}',
    }
    assert address(f"host docent[7]: {journal[form]}") == "198.18.0.1"
    if program := shutil.which("fail2ban-regex"):
        said = subprocess.run([program, log, rules], capture_output=True, text=True, check=True).stdout
        assert "2 matched" in said
