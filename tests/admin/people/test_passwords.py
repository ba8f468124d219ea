"""Which passwords can be chosen."""

import pytest
from wtforms.validators import StopValidation

from admin.people.passwords import JUDGED_CHARS, check_uncommon
from tests.admin.conftest import EMAIL, PASSWORD

LEAKED = [
    "passwordpassword",
    "password123456789",
    "1qaz2wsx3edc4rfv",
    "qwertyuiopasdfghjkl",
    "123456789012345",
    "aaaaaaaaaaaaaaaa",
    "iloveyouforever",
    "unbelievable1234",
    "letmeinletmein1",
    "P@ssw0rdP@ssw0rd",
    "footballfootball",
    "superman1batman2",
    "qwerty1234567890",
    "administrator123",
    "trustno1trustno1",
    "startrekstarwars",
    "princessprincess1",
    "docentdocent123",
    "111111111111111",
    "abcdefghijklmnop",
    "zaq12wsxzaq12wsx",
    "dragondragondragon",
    "q1w2e3r4t5y6u7i8",
    "1234567890qwerty",
]
GOOD = [
    "correct horse battery",
    "quiet lanterns by the harbour",
    "jX9$kd02LqPz8!a",
    "海边的安静灯笼和三只懒猫慢慢走路",
]


def change(browser, new):
    fields = {"current": PASSWORD, "new": new, "again": new}
    return browser.send("/admin/account", fields, "/admin/account/password")


class _Form:
    person = "lovelace@example.com"


class _Field:
    def __init__(self, data):
        self.data = data


@pytest.mark.parametrize("password", [*LEAKED, "lovelace@example.com", "x" * 256])
def test_common_and_leaked_passwords_are_refused(password):
    with pytest.raises(StopValidation, match="easy to guess"):
        check_uncommon(_Form(), _Field(password))


@pytest.mark.parametrize("password", [*GOOD, "4@8({[<369&#!1/|0$5+7%2" * 10])
def test_others_are_taken(password):
    check_uncommon(_Form(), _Field(password))


def test_no_list_is_asked_over_the_network_and_the_work_is_bounded(monkeypatch):
    import socket

    monkeypatch.setattr(socket, "socket", None)
    asked = []
    monkeypatch.setattr("zxcvbn.zxcvbn", lambda text, about: asked.append(text) or {"guesses": 1e20})
    check_uncommon(_Form(), _Field("a" * 256))
    assert [len(text) for text in asked] == [JUDGED_CHARS]


def test_a_leaked_password_changes_nothing(runtime, operator, operator_id):
    before = runtime.people.operators.get(operator_id).password_hash
    answer = change(operator, "passwordpassword")
    assert (answer.status_code, "easy to guess" in answer.text) == (422, True)
    assert "15 to 256 characters" in change(operator, "jX9$kd02LqPz8!").text
    assert runtime.people.operators.find(EMAIL).password_hash == before
    assert change(operator, GOOD[1]).status_code == 302


def test_a_shorter_password_of_before_still_logs_in(app, runtime):
    from admin.people.passwords import hash_password
    from tests.admin.conftest import Browser, log_in

    runtime.people.operators.create("old@example.com", hash_password("12 letters.."))
    assert log_in(Browser(app), "12 letters..", "old@example.com").status_code == 302
