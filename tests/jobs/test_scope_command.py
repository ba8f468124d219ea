"""`python -m server scope SITE` shows and chooses which part of a site is read."""

import pytest

from server.__main__ import main
from server.domain.site import Site
from server.runtime.runtime import open_runtime
from server.settings.reading import load_settings


@pytest.fixture
def shell(tmp_path, monkeypatch, capsys):
    """Runs the command; its exit code, what it printed, and what went wrong."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DATA_DIR", str(tmp_path / "data"))
    runtime = open_runtime(load_settings())
    runtime.stores.sites.create(Site("shop", "Shop", "", ("https://shop.example/",)))
    runtime.close()

    def run(*arguments):
        code = main(["scope", *arguments])
        said = capsys.readouterr()
        return code, said.out, said.err

    return run


def test_what_is_chosen_stays_until_it_is_replaced_or_cleared(shell):
    shell("shop", "--exclude", "/tag/*", "--exclude", "/cart/*", "--subdomains")
    shell("shop", "--path", "/docs/")
    said = shell("shop")[1]
    assert "path:       /docs/" in said
    assert "exclude:    /tag/*, /cart/*" in said
    assert "subdomains: yes" in said
    assert "exclude:    none" in shell("shop", "--clear")[1]


def test_a_pattern_that_cannot_work_is_refused_in_one_line(shell):
    code, _, fault = shell("shop", "--include", "docs")
    assert code == 1
    assert 'Pattern "docs" must start with' in fault
    assert "include:    all" in shell("shop")[1]


def test_an_address_is_explained_with_the_rules_of_the_site(shell):
    shell("shop", "--exclude", "/tag/*")
    assert (
        'matches the exclude pattern "/tag/*"' in shell("shop", "--explain", "https://shop.example/tag/a")[1]
    )


def test_an_unknown_site_is_named(shell):
    code, _, fault = shell("nothing")
    assert code == 1
    assert "nothing" in fault


def test_headers_are_named_without_their_values_and_stay_until_they_are_cleared(shell):
    shell("shop", "--header", "Authorization: Basic cHVtcDpoaWRkZW4=", "--header", "X-Staging: 1")
    shell("shop", "--path", "/docs/")
    said = shell("shop")[1]
    assert "headers:    Authorization, X-Staging" in said
    assert "cHVtcDpoaWRkZW4=" not in said
    assert "headers:    none" in shell("shop", "--clear")[1]


def test_a_crawl_of_another_address_says_that_the_headers_are_removed(shell, capsys):
    shell("shop", "--header", "X-Staging: 1")
    main(["crawl", "http://127.0.0.1:9/", "--site", "shop"])
    assert "Its headers were entered for another address and are removed." in capsys.readouterr().err
    assert "headers:    none" in shell("shop")[1]
