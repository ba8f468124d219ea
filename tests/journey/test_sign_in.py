"""Guessing and stolen sessions against a running server behind a proxy."""

import re
import sqlite3
from pathlib import Path

import pytest
import requests

from tests.journey.conftest import Docent

EMAIL, PASSWORD = "ada@example.com", "quiet lanterns by the harbour"
NEW = "three lazy cats on a warm roof"


@pytest.fixture(scope="module")
def server(shop, tmp_path_factory):
    made = Docent(
        tmp_path_factory.mktemp("signin") / "data",
        SITE=shop.url,
        CRAWL_ALLOW_PRIVATE="1",
        TRUSTED_PROXIES="1",
    )
    made.start()
    made.wait_until_ready()
    browser = Browser(made, "203.0.113.9")
    browser.send("/admin/setup", token=setup_code(made), email=EMAIL, password=PASSWORD, again=PASSWORD)
    yield made
    made.stop()


def setup_code(server):
    return (Path(server.settings["DATA_DIR"]) / "setup-link.txt").read_text().strip().split("token=")[1]


class Browser:
    """Sends forms with their token, from an address of its own."""

    def __init__(self, server, address):
        self.url, self.http = server.url, requests.Session()
        self.http.headers["X-Forwarded-For"] = address

    def send(self, action, page="", **fields):
        shown = self.http.get(self.url + (page or action), timeout=30).text
        token = re.search(r'name="csrf_token"[^>]* value="([^"]+)"', shown)[1]
        data = {**fields, "csrf_token": token}
        return self.http.post(self.url + action, data=data, allow_redirects=False, timeout=30)

    def log_in(self, password=PASSWORD, email=EMAIL):
        return self.send("/admin/login", email=email, password=password)


def test_one_ipv6_network_gets_ten_attempts(server):
    found = [
        Browser(server, f"2001:db8::{number:x}").log_in("wrong", f"n{number}@example.com").status_code
        for number in range(30)
    ]
    assert (found.count(422), found.count(429)) == (10, 20)


def test_strangers_do_not_lock_the_owner_out_and_are_in_the_log(server):
    found = [Browser(server, f"198.51.100.{n}").log_in("wrong").status_code for n in range(14)]
    assert found == [422] * 14
    assert Browser(server, "192.0.2.1").log_in().status_code == 302
    lines = re.findall(
        r"WARNING docent\.access: refused (198\.51\.100\.\d+) wrong password", server.log.read_text()
    )
    assert len(set(lines)) == 14


def test_a_stolen_session_makes_no_lasting_takeover(server):
    owner = Browser(server, "203.0.113.9")
    owner.log_in()
    page, reset = "/admin/settings/people", "/admin/settings/people/1/reset"
    link = re.search(r"new-password.token=([\w-]+)", owner.send(reset, page).text)[1]
    with sqlite3.connect(Path(server.settings["DATA_DIR"]) / "docent.sqlite3") as rows:
        rows.execute("UPDATE operator_sessions SET confirmed_at = '2026-01-01 00:00:00.000000'")
    stolen = owner.send(reset, page)
    assert (stolen.status_code, "new-password" in stolen.text) == (403, False)
    owner.send("/admin/account/password", "/admin/account", current=PASSWORD, new=NEW, again=NEW)
    thief = Browser(server, "203.0.113.66")
    answer = thief.send("/admin/new-password", token=link, password=PASSWORD, again=PASSWORD)
    assert answer.status_code == 403
    assert Browser(server, "203.0.113.9").log_in(NEW).status_code == 302
