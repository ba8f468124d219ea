"""Files, folders, archives, pairs and lists of addresses, read without a server."""

import os
import tracemalloc
from urllib.parse import urlsplit

import pytest

from crawler.errors import BadFile, BadStart
from crawler.fetching.fetcher import Validators
from crawler.options import CrawlOptions
from crawler.page import Block
from crawler.report import UrlState
from crawler.sources.files import FolderOptions, anchored, files_in, public_url, read_file, unpack
from crawler.sources.pairs import Pair, pair_page, parse_addresses, parse_pairs, read_addresses
from tests.crawler.files import archive, bzip2_bomb
from tests.websites import Website, serve


class TestFiles:
    def test_a_file_without_a_title_is_called_by_its_name(self):
        outcome = read_file("how to/opening_hours.md", b"We open at nine.", "/sources/shop/1")
        assert outcome.page.title == "opening hours"
        assert outcome.page.content_hash

    def test_a_page_that_asks_not_to_be_indexed_is_not(self):
        body = b"<meta name=robots content=noindex><p>Secret plans.</p>"
        assert read_file("a.html", body, "/sources/shop/1").state is UrlState.NOINDEX

    @pytest.mark.parametrize(
        ("name", "body", "state"),
        [
            ("a.png", b"x", UrlState.UNSUPPORTED),
            ("README", b"x", UrlState.UNSUPPORTED),
            ("a.md", b"\n\n", UrlState.EMPTY),
            ("a.docx", b"x", UrlState.ERROR),
        ],
    )
    def test_what_gives_no_page_says_why(self, name, body, state):
        outcome = read_file(name, body, "/sources/shop/1")
        assert (outcome.state, outcome.page) == (state, None)
        assert outcome.reason

    def test_headings_get_anchors_that_differ(self):
        blocks = [Block("a", ("Care & Repair",)), Block("b", ("X", "Care – Repair!")), Block("c", ("中文",))]
        assert [block.anchor for block in anchored(blocks)] == ["care-repair", "care-repair-2", "中文"]
        kept = Block("d", ("Own",), anchor="own")
        assert anchored([kept, Block("e", ("own",))]) == (kept, Block("e", ("own",), anchor="own-2"))


class TestFolder:
    @pytest.fixture
    def folder(self, tmp_path):
        root = tmp_path / "manual"
        (root / "drafts").mkdir(parents=True)
        (root / ".git").mkdir()
        for name in ("a.md", "drafts/b.md", "logo.png", ".hidden.md", ".git/c.md", "big.txt"):
            (root / name).write_text("Text." if name != "big.txt" else "x" * 5000)
        return root

    def told(self, folder, **options):
        return {found.name: found.state for found in files_in(folder, FolderOptions(**options))}

    def test_every_file_has_a_state_and_hidden_ones_do_not_count(self, folder):
        assert self.told(folder, max_bytes=1000) == {
            "a.md": None,
            "big.txt": UrlState.TOO_LARGE,
            "drafts/b.md": None,
            "logo.png": UrlState.UNSUPPORTED,
        }

    def test_patterns_are_those_of_a_crawl(self, folder):
        assert self.told(folder, exclude=("/drafts/*",))["drafts/b.md"] is UrlState.EXCLUDED
        chosen = self.told(folder, include=("/drafts/*",))
        assert [name for name, state in chosen.items() if state is None] == ["drafts/b.md"]
        with pytest.raises(BadStart, match="must start with"):
            self.told(folder, exclude=("drafts",))

    def test_links_out_of_the_folder_are_not_followed(self, folder, tmp_path):
        outside = tmp_path / "secret.md"
        outside.write_text("The password is swordfish.")
        (tmp_path / "elsewhere").mkdir()
        (tmp_path / "elsewhere" / "d.md").write_text("Text.")
        (folder / "link.md").symlink_to(outside)
        (folder / "inside.md").symlink_to(folder / "a.md")
        (folder / "folder").symlink_to(tmp_path / "elsewhere")
        (folder / "circle").symlink_to(folder)
        os.mkfifo(folder / "pipe.md")
        told = self.told(folder)
        assert told["link.md"] is UrlState.EXCLUDED
        assert told["inside.md"] is None
        assert told["pipe.md"] is UrlState.UNSUPPORTED
        assert not any(name.startswith(("folder/", "circle/")) for name in told)

    def test_the_number_of_files_is_limited(self, folder):
        states = list(self.told(folder, max_files=1).values())
        assert states.count(None) == 1
        assert UrlState.OVER_LIMIT in states

    def test_a_folder_that_is_not_there_says_so(self, tmp_path):
        with pytest.raises(BadStart, match="cannot be read"):
            list(files_in(tmp_path / "gone", FolderOptions()))

    def test_names_become_addresses(self):
        assert public_url("https://e.com/m/", "how to/ü.md") == "https://e.com/m/how%20to/%C3%BC.md"


class TestArchives:
    def test_readable_files_are_unpacked_under_their_names(self):
        body = archive({"a/b.md": b"B", "../../etc/c.txt": b"C", "/abs.md": b"D", "x.png": b"", ".d.md": b""})
        assert unpack(body, 1000) == [("a/b.md", b"B"), ("etc/c.txt", b"C"), ("abs.md", b"D")]

    def test_a_bomb_is_refused(self):
        body = archive({"a.txt": b" " * 30_000_000})
        with pytest.raises(BadFile, match="unpacks to more"):
            unpack(body, 1_000_000)
        lie = body.replace((30_000_000).to_bytes(4, "little"), (100).to_bytes(4, "little"))
        with pytest.raises(BadFile):
            unpack(lie, 1_000_000)

    def test_a_bomb_that_unpacks_before_its_limit_is_seen_is_refused(self):
        bomb = bzip2_bomb("a.txt")
        tracemalloc.start()
        try:
            with pytest.raises(BadFile, match="BZIP2"):
                unpack(bomb, 1_000_000)
            assert tracemalloc.get_traced_memory()[1] < 5_000_000
        finally:
            tracemalloc.stop()

    def test_too_many_files_are_refused(self):
        with pytest.raises(BadFile, match="2,001 files"):
            unpack(archive({f"{n}.txt": b"x" for n in range(2001)}), 1_000_000)

    def test_what_is_no_archive_says_so(self):
        with pytest.raises(BadFile, match="no zip archive"):
            unpack(b"hello", 1000)


TWO = [Pair("How long?", "Two days."), Pair("How much?", "4.50 EUR,\nfree above 60.")]


class TestPairs:
    @pytest.mark.parametrize(
        "text",
        [
            "Q: How long?\nA: Two days.\n\nQ: How much?\nA: 4.50 EUR,\nfree above 60.\n",
            "**Q1:** How long?\r\n**A1:** Two days.\r\n**Q2:** How\r\n much?\r\n**A2:** 4.50 EUR,\r\nfree above 60.",
            'question,answer\nHow long?,Two days.\nHow much?,"4.50 EUR,\nfree above 60."\n',
            'How long?;Two days.\nHow much?;"4.50 EUR,\nfree above 60."',
            'Answer\tid\tQuestion\nTwo days.\t1\tHow long?\n"4.50 EUR,\nfree above 60."\t2\tHow much?',
            '{"question": "How long?", "answer": "Two days."}\n\n{"Q": "How much?", "A": "4.50 EUR,\\nfree above 60."}',
        ],
    )
    def test_all_ways_to_write_them_are_understood(self, text):
        assert parse_pairs(text) == TWO

    def test_other_languages(self):
        assert parse_pairs("Frage: Wie lange?\nAntwort: Zwei Tage.") == [Pair("Wie lange?", "Zwei Tage.")]
        assert parse_pairs("问：多久？\n答：两天。") == [Pair("多久？", "两天。")]

    def test_lines_of_an_answer_that_look_like_other_marks_stay_in_it(self):
        (pair,) = parse_pairs("Q: Which fits?\nA: See below.\nP. 12 W\nF: E14\nA: or another.")
        assert pair.answer == "See below.\nP. 12 W\nF: E14\nA: or another."

    def test_the_last_answer_to_a_question_counts(self):
        assert parse_pairs("Q: a?\nA: 1\nQ: A?\nA: 2") == [Pair("A?", "2")]

    @pytest.mark.parametrize(
        ("text", "says"),
        [
            ("  \n", "nothing in it"),
            ("Q: How long?\n\nQ: How much?\nA: 4", "line 1: the answer is missing"),
            ("just some text", "line 1 has no answer"),
            ('{"question": "a"', "line 1 is no JSON object"),
            ('{"question": "a"}', "line 1: the answer is missing"),
            ("question,answer\na,b\n,c", "line 3: the question is missing"),
        ],
    )
    def test_what_is_wrong_is_told_with_its_line(self, text, says):
        with pytest.raises(BadFile, match=says):
            parse_pairs(text)

    def test_the_question_is_the_title_and_the_answer_keeps_its_form(self):
        answer = "Do this:\n\n* first\n* second\n\nThen wait\nten minutes."
        page = pair_page("/sources/shop/1", Pair("How do I reset it?", answer))
        assert page.title == "How do I reset it?"
        assert [(b.text, b.kind) for b in page.blocks] == [
            ("Do this:", "text"),
            ("- first\n- second", "list"),
            ("Then wait ten minutes.", "text"),
        ]


class TestAddresses:
    def test_a_list_is_one_address_a_line(self):
        text = "# ours\nexample.com/a\n\nhttps://example.com/a\n https://example.com/b#c \n"
        assert parse_addresses(text) == ("https://example.com/a", "https://example.com/b")
        with pytest.raises(BadStart, match="line 2"):
            parse_addresses("example.com\nftp://example.com")
        with pytest.raises(BadStart, match="no address"):
            parse_addresses("# nothing")

    def test_only_these_pages_are_read(self):
        feed = "<link rel=alternate type=application/rss+xml href=/feed.xml>"
        pages = {
            "/a": ("A", f"<p>The first page says this. <a href='/c'>c</a></p>{feed}"),
            "/b": ("B", "<p>The second page says that. <a href='/c'>c</a></p>"),
            "/c": ("C", "<p>Nobody listed this page.</p>"),
        }
        with serve(Website("Shop", pages)) as site:
            addresses = tuple(f"{site.url}/{name}" for name in ("a", "b", "gone"))
            options = CrawlOptions(start_urls=addresses, allow_private=True, exclude=("*/b",))
            known: dict[str, Validators] = {}
            outcomes = list(read_addresses(addresses, options, known))
            assert not {"/c", "/feed.xml"} & set(site.requests)
        found = {urlsplit(outcome.url).path: outcome.state for outcome in outcomes}
        assert found == {"/a": UrlState.FETCHED, "/b": UrlState.FETCHED, "/gone": UrlState.GONE}
