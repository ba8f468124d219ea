"""Crawls are paused, resumed and stopped from another process than the one that works on them."""

import os
import signal
import subprocess
import sys
import time

import pytest

from server.__main__ import main
from server.storage.errors import WrongState
from tests.jobs.conftest import ROOT


@pytest.fixture
def docent(slow, monkeypatch, capsys):
    """A command of the shell beside the worker: (exit code, what it printed)."""
    monkeypatch.setenv("DATA_DIR", str(slow.folder))
    monkeypatch.setenv("CRAWL_ALLOW_PRIVATE", "1")

    def run(*arguments):
        capsys.readouterr()
        code = main(list(arguments))
        out, err = capsys.readouterr()
        return code, out + err

    return run


def test_a_crawl_is_paused_resumed_and_stopped_while_a_worker_runs_it(slow, docent):
    slow.website.hold_after = 12
    slow.runtime.crawling.start("shop")
    worker = slow.worker()
    slow.until(lambda: slow.website.is_holding, "fetching")

    began = time.monotonic()
    assert docent("crawls", "pause", "shop") == (0, "The crawl of shop is being paused.\n")
    slow.until_state("paused")
    assert time.monotonic() - began < 10
    made = sum(slow.website.page_requests.values())
    counts = slow.run.counts
    assert counts["waiting"] > 0
    assert "\tpaused\t" in docent("crawls", "list")[1]
    assert slow.runtime.stores.content("shop").live_generation() == 0
    assert sum(slow.website.page_requests.values()) == made

    slow.website.hold_after = made + 8
    assert "goes on as soon as the job worker has time" in docent("crawls", "resume", "shop")[1]
    slow.until_state("running")
    slow.until(lambda: slow.website.is_holding, "going on")
    assert docent("crawls", "stop", "shop") == (0, "The crawl of shop is being stopped.\n")
    slow.until_state("stopped")
    slow.end(worker)
    read = slow.run.counts["fetched"]
    assert len(slow.pages()) == read < 30
    assert sum(slow.website.page_requests.values()) <= read + 4, "nothing was fetched twice"
    slow.check_indexes()
    with pytest.raises(WrongState, match=r"has ended \(stopped\)"):
        slow.runtime.crawling.control.pause("shop")
    refused = "the last crawl of shop has ended (stopped), so it cannot be resumed"
    assert docent("crawls", "resume", "shop") == (1, f"docent: {refused}\n")


def test_pages_that_a_stopped_crawl_did_not_visit_are_not_missing_and_are_read_next_time(slow):
    slow.runtime.crawling.refresh("shop", slow.runtime.stores.crawls.wait("shop"))
    slow.website.set_page(29, "New words")
    crawl_id = slow.runtime.stores.crawls.wait("shop")
    slow.runtime.stores.crawls.claim(crawl_id, "gone")
    slow.runtime.crawling.control.stop("shop")
    assert (slow.run.state, slow.run.wanted) == ("waiting", "stop")
    slow.runtime.crawling.refresh("shop", crawl_id)
    assert slow.run.state == "stopped"
    assert slow.pages() == set(slow.website.pages)
    assert all(not page.missed for page in slow.runtime.stores.content("shop").pages())
    slow.runtime.crawling.refresh("shop", slow.runtime.stores.crawls.wait("shop"))
    assert slow.run.message.startswith("pages: 1 indexed, 29 unchanged")


def test_what_waits_is_paused_and_stopped_at_once(slow):
    control, crawls = slow.runtime.crawling.control, slow.runtime.stores.crawls
    with pytest.raises(WrongState, match="never crawled"):
        control.pause("shop")
    control.start("shop")
    assert control.pause("shop").state == "paused"
    assert control.pause("shop").state == "paused"
    assert control.resume("shop").state == "waiting"
    assert control.stop("shop").state == "stopped"
    assert slow.run.message == "stopped before it began"
    failed = crawls.wait("shop")
    crawls.finish(failed, "failed", "the model was away")
    assert (control.resume("shop").id, slow.run.state) == (failed, "waiting")


def test_ctrl_c_pauses_the_crawl_of_the_shell_and_the_command_goes_on_with_it(slow, docent):
    slow.website.hold_after = 12
    environment = {**os.environ, "DATA_DIR": str(slow.folder), "CRAWL_ALLOW_PRIVATE": "1"}
    with subprocess.Popen(
        [sys.executable, "-m", "server", "crawl", "shop"],
        env=environment,
        cwd=ROOT,
        stderr=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        text=True,
    ) as shell:
        slow.until(lambda: slow.website.is_holding, "fetching")
        shell.send_signal(signal.SIGINT)
        said = shell.stderr.read()
    assert shell.returncode == 130
    assert "Nothing is lost. To go on: python -m server crawl shop" in said
    assert slow.run.state == "paused"
    made = sum(slow.website.page_requests.values())
    slow.website.hold_after = None
    code, said = docent("crawl", "shop")
    assert code == 0
    assert "Going on with crawl 1" in said
    assert slow.pages() == set(slow.website.pages)
    assert sum(slow.website.page_requests.values()) <= 30 + 4
    assert made < 30


def test_what_became_of_each_address_is_listed_in_the_shell(slow, docent):
    slow.runtime.crawling.refresh("shop", slow.runtime.stores.crawls.wait("shop"))
    header, *rows = docent("crawls", "urls", "shop", "--state", "gone", "--csv")[1].splitlines()
    assert header == "address,state,reason,status,linked from,clicks,at"
    assert len(rows) == 2
    assert "/delivery,gone," in rows[0]
    assert docent("crawls", "urls", "shop", "--search", "p17")[1].startswith("fetched\t200\thttp")
    assert docent("crawls", "urls", "shop", "--crawl", "7")[0] == 1
    assert docent("crawls", "list", "nothing")[0] == 1


def test_a_site_is_given_a_schedule_in_the_shell(slow, docent):
    assert "on demand" in docent("sites")[1]
    assert "shop is crawled weekly, next at " in docent("sites", "schedule", "shop", "weekly")[1]
    assert "weekly" in docent("sites")[1]
    assert docent("sites", "schedule", "shop", "off") == (0, "shop is crawled on demand only.\n")
    assert slow.runtime.stores.schedules.get("shop") is None
    assert docent("sites", "schedule", "nothing", "daily")[0] == 1
