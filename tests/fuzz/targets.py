"""Every parser that reads what strangers wrote: how to call it, which errors it may raise, and what it is fed."""

import hashlib
import io
import json
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from random import Random

from crawler.discovery.sitemap import entries, feed_urls
from crawler.errors import BadFile, BadStart
from crawler.extractors import DOCX, SourceDocument, extract
from crawler.fetching.robots import RobotsRules
from crawler.limits import FileLimits
from crawler.sources.files import unpack
from crawler.sources.pairs import pair_page, parse_addresses, parse_pairs
from server.backup.reading import open_backup, restore
from server.domain.curated import CuratedFileError, read_answers
from server.domain.site import Site
from server.quality.questions import BadQuestions, read_upload
from server.settings import Settings
from server.storage.database import Database
from server.storage.errors import BadBackup
from tests.fuzz import mutations
from tests.storage.test_backup import backed_up, fill

CORPUS = Path(__file__).parent / "corpus"
MARKED = Path(__file__).parents[1] / "crawler" / "marked_pages" / "sites"
SITE = Site("shop", "Shop", "Shop", ("https://shop.example/",))


@dataclass(frozen=True)
class Target:
    """A parser. `read` returns, or raises one of `errors`, within `seconds` of CPU time."""

    read: Callable[[bytes], object]
    mutate: Callable[[Random, bytes, list[bytes]], bytes]
    magic: bytes = b""
    """How such a file begins."""
    errors: tuple[type[Exception], ...] = ()
    seconds: float = 5.0
    seeds: Callable[[], list[bytes]] | None = None
    """None: the files of its folder in the corpus."""
    more: tuple[Path, ...] = field(default=())
    """Further folders with seeds."""


def document(content_type):
    limits = FileLimits(seconds=2.0, unpacked_bytes=5_000_000)

    def read(body):
        extract(SourceDocument("https://shop.example/file", body, content_type, limits=limits))

    return read


def read_sitemap(body):
    list(entries(body, 1000, 1_000_000))
    feed_urls(body, "application/feed+json", "https://shop.example/feed")


def read_robots(body):
    rules = RobotsRules.parse(body.decode("utf-8", "replace"), "DocentBot")
    for path in ("/", "/a/b?c=d", "/%E4%BD%A0/" + "a" * 200, "/aaaaaaaaaaaaaaaaaaaaaaaaaaaaa.html"):
        rules.forbidding_line(f"https://shop.example{path}")
    assert rules.crawl_delay >= 0
    assert all(line.text for line in rules.rules)


def read_pairs(body):
    for pair in parse_pairs(body.decode("utf-8", "replace")):
        pair_page("/sources/shop/1", pair)


@cache
def scratch():
    """A database that backups are restored into."""
    database = Database(f"sqlite:///{tempfile.mkdtemp(prefix='docent-fuzz-')}/docent.sqlite3")
    database.migrate()
    return database


@cache
def whole_backup():
    fill(scratch())
    return [backed_up(scratch())]


def read_backup(body):
    with open_backup(io.BytesIO(body)) as backup:
        backup.check(1_000_000_000)
        restore(scratch(), backup)


raw_backup = mutations.zipped((r"\.jsonl$", mutations.json_lines), ("manifest", mutations.json_lines))


def backup_rows(rng, data, others):
    """Mostly a backup whose manifest is true, so that its rows are read."""
    if rng.random() < 0.4:
        return raw_backup(rng, data, others)
    files = mutations.unzipped(data)
    manifest = json.loads(files["manifest.json"])
    for table in rng.choices(list(manifest["tables"]), k=rng.randint(1, 3)):
        name = f"tables/{table}.jsonl"
        if rows := files[name].rstrip(b"\n"):
            files[name] = mutations.json_lines(rng, rows, [rows]) + b"\n"
            body = files[name]
            digest = hashlib.sha256(body).hexdigest()
            manifest["tables"][table] = {"rows": body.count(b"\n"), "bytes": len(body), "sha256": digest}
    files["manifest.json"] = json.dumps(manifest).encode()
    return mutations.repacked(rng, files)


TARGETS = {
    "html": Target(document("text/html"), mutations.markup, b"<!doctype html>", (BadFile,), more=(MARKED,)),
    "pdf": Target(document("application/pdf"), mutations.pdf_tokens, b"%PDF-1.7\n", (BadFile,)),
    "docx": Target(
        document(DOCX), mutations.zipped((r"\.(xml|rels)$", mutations.xml_tree)), b"PK\x03\x04", (BadFile,)
    ),
    "markdown": Target(document("text/markdown"), mutations.markdown_text, b"---\n", (BadFile,)),
    "plain": Target(document("text/plain"), mutations.lines, b"", (BadFile,)),
    "sitemap": Target(read_sitemap, mutations.markup, b"<?xml version='1.0'?>"),
    "robots": Target(read_robots, mutations.lines, b"User-agent: *\n"),
    "pairs": Target(read_pairs, mutations.table, b"Q: ", (BadFile,)),
    "addresses": Target(
        lambda body: parse_addresses(body.decode("utf-8", "replace")), mutations.lines, b"https://", (BadStart,)
    ),
    "archive": Target(
        lambda body: unpack(body, 5_000_000), mutations.zipped(), b"PK\x03\x04", (BadFile,)
    ),
    "answers-jsonl": Target(
        lambda body: read_answers("shop", body, is_json=True), mutations.json_lines, b'{"question":', (CuratedFileError,)
    ),
    "answers-csv": Target(
        lambda body: read_answers("shop", body, is_json=False), mutations.table, b"question,answer\n", (CuratedFileError,)
    ),
    "questions-jsonl": Target(
        lambda body: read_upload(body, SITE, Settings()), mutations.json_lines, b'{"question":', (BadQuestions,)
    ),
    "backup": Target(read_backup, backup_rows, b"PK\x03\x04", (BadBackup,), seeds=whole_backup),
}  # fmt: skip
"""A row for each parser. A parser of answers of an OpenID provider belongs here too, once there is one."""


def seeds(name):
    """The files that inputs are made from."""
    target = TARGETS[name]
    if target.seeds:
        return target.seeds()
    folders = (CORPUS / name, *target.more)
    return [path.read_bytes() for folder in folders for path in sorted(folder.iterdir())]


def make_input(name, seed, number):
    """Input `number` of the run `seed`: always the same bytes."""
    rng = Random(f"{seed}:{name}:{number}")
    target, found = TARGETS[name], seeds(name)
    if number < len(found):
        return found[number]
    if number % 8 == 0:
        return mutations.random_bytes(rng, target.magic)
    mutate = target.mutate if rng.random() < 0.85 else mutations.any_bytes
    return mutate(rng, rng.choice(found), found)
