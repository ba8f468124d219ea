"""Changes one line of core code at a time and asks whether tests notice: those that import the module, then
those of its part.

    python .ci/mutations.py [ROOT] [--only N,N]

ROOT is a checkout that may be changed (each file is put back); this one by default. A line is given in each of
its spellings, so that older checkouts compare; one that is not there exactly once is reported as absent. Exit
code 1 when a mutation survives.
"""

import argparse
import re
import subprocess
import sys
from pathlib import Path

MUTATIONS = [
    # answering
    ('return "transform_query" if state.retrievals < self._reflection.max_count else DONE', "< self", "<= self"),
    ("if attempt.removed and not last:", "and not last", "and last"),
    ('differs = "" if alike == 1.0 else contradiction(phrase, question.text)', "== 1.0", "!= 1.0"),
    ("if hit.chunk.id in used or hit.score < NEAR * best or not _is_answered(heading, words, hit.chunk):", "or not _is", "or _is"),
    ("if hit.chunk.url in cited:", " in cited", " not in cited"),
    ("if citation is None:", "is None", "is not None"),
    # citing and proving
    ("if len(said) >= _SHORTEST and said in seen:", "said in seen", "said not in seen"),
    ("if unit.block != tainted and (command_in(unit.text) or command_in(unit.quote)):", "!= tainted", "== tainted"),
    ("return not self.language or not language or language == self.language", "language == self", "language != self"),
    ("page[line + n : line + n + 1] == [text] or _begins(page, line + n, text)", "== [text]", "!= [text]"),
    ("if share > best_share or (best and share == best_share and len(numbers & present) > most):", "share > best_share", "share < best_share"),
    ("if not any(amount.equals(other) for other in self._amounts) and not self._counted(amount):", "and not self", "and self"),
    ("kept.append(None if unit.block == tainted else unit)", "== tainted", "!= tainted"),
    ("if other and other in theirs and other not in mine and word not in theirs:", "word not in", "word in"),
    ("return any(a[1:] == b[1:] and (a[0] == b[0] or not a[0] or not b[0]) for a in one for b in other)", "a[1:] == b", "a[1:] != b"),
    ('return end["mark"] != "." or not _is_abbreviation(before, following)', "or not _is", "or _is"),
    ("return same and bool(self.values & other.values)", "same and", "same or"),
    # crawling
    ('return parent is not None and parent.tag == "div" and parent.getparent() is definitions', "is definitions", "is not definitions"),
    ("if self._learner is None:", "is None", "is not None"),
    ("if len(found.words - words) > _MOST_OWN_WORDS:", "> _MOST", "< _MOST"),
    ('return (urls.canonical(_as_utf8(target), self.url) or "") if target else ""', "if target", "if not target"),
    ('elif element.tag == "article":', "==", "!="),
    (r'if code := "\n".join(lines).strip("\n"):', r'strip("\n")', "strip()"),
    ('hidden = panel is not None and (panel.get("hidden") is not None or "none" in (panel.get("style") or ""))', "is not None and", "is None and"),
    ('return replace(block, heading_path=path[1:], anchor=block.anchor if len(path) > 1 else "")', "path[1:]", "path"),
    # limits
    ("if len(nonce) > NONCE_CHARS or not solves(challenge, nonce, asked):", "or not solves", "or solves"),
    ("if on_page or not family.page_only:", "or not family", "or family"),
    (
        ('own = self._slot if self._day == day else ""', "same = (budgets.c.name == name, budgets.c.day == day)"),
        "== day",
        "!= day",
    ),
    ("if not isinstance(value, list) or len(value) != 4:", "!= 4", "== 4"),
    ("if begun or wait is None:", "wait is None", "wait is not None"),
    ('return bool(token) and self._loaded(token or "", self.lifetime_s) is not None', "is not None", "is None"),
    ("if len(window) + amount > limit:", "> limit", ">= limit"),
    ("known = self.known(renewed, site_id, origin) or Visitor(uuid4().hex, site_id, origin)", "self.known(renewed, site_id, origin) or ", ""),
    # storage
    (
        (
            "schedules.c.every == due.every,",
            "same = [column == value for column, value in zip(schedules.c, astuple(due), strict=True)]",
        ),
        " == ",
        " != ",
    ),
    ("of_crawl.append(crawl_urls.c.state == state)", "== state", "!= state"),
    ("if message.answer.outcome is Outcome.CURATED and isinstance(given, dict):", "is Outcome", "is not Outcome"),
    ("under_way = select(crawls).where(crawls.c.state == RUNNING).order_by(crawls.c.id)", "== RUNNING", "!= RUNNING"),
    ('conversations.c.visitor_id == bindparam("visitor"),', "==", "!="),
    (
        ("return None if row is None else _operator(row._mapping)", "return None if row is None else operator_of(row)"),
        "if row is None else",
        "if row is not None else",
    ),
    ("wanted = select(*_COLUMNS).where(curated.c.site_id == site_id)", "== site_id", "!= site_id"),
]  # fmt: skip


def product(root: Path) -> list[Path]:
    """Every module of the product."""
    return [path for folder in ("server", "crawler") for path in sorted((root / folder).rglob("*.py"))]


def tests_of(root: Path, path: Path) -> list[str]:
    """The test files that import the module, or anything of its package where none imports the module itself."""
    module = ".".join(path.relative_to(root).with_suffix("").parts)
    files = sorted((root / "tests").rglob("*.py"))
    for name in (module, module.rsplit(".", 1)[0]):
        wanted = re.compile(
            rf"\b{re.escape(name)}\b|from {re.escape(name.rpartition('.')[0])} import [^\n]*\b{name.rpartition('.')[2]}\b"
        )
        found = [file for file in files if wanted.search(file.read_text(encoding="utf-8"))]
        tests = [str(file.relative_to(root)) for file in found if file.name.startswith("test_")]
        folders = {str(file.parent.relative_to(root)) for file in found if file.name == "conftest.py"}
        if tests or folders:
            return tests or sorted(folders)
    return ["tests"]


def area_of(root: Path, path: Path) -> list[str]:
    """The folder of tests of the part that a module belongs to; none when there is no such folder."""
    parts = path.relative_to(root).parts
    folder = root / "tests" / (parts[1] if parts[0] == "server" else parts[0])
    return [str(folder.relative_to(root))] if folder.is_dir() else []


def is_caught(root: Path, tests: list[str]) -> bool:
    """Return whether one of these tests fails."""
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", *tests]
    return bool(tests) and subprocess.run(command, cwd=root, capture_output=True).returncode not in (0, 5)


def main() -> int:
    """Tries every mutation; 1 when one survives."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("root", nargs="?", type=Path, default=Path(__file__).parent.parent)
    parser.add_argument("--only", default="", help="numbers of mutations, with commas between them")
    options = parser.parse_args()
    root = options.root.resolve()
    only = {int(one) for one in options.only.split(",") if one}
    texts = {path: path.read_text(encoding="utf-8") for path in product(root)}
    counts = {"caught": 0, "survived": 0, "absent": 0}
    for number, (spelled, old, new) in enumerate(MUTATIONS, 1):
        if only and number not in only:
            continue
        spellings = (spelled,) if isinstance(spelled, str) else spelled
        line = next((one for one in spellings if any(one in text for text in texts.values())), spellings[0])
        places = [path for path, text in texts.items() if text.count(line) == 1]
        if len(places) != 1:
            counts["absent"] += 1
            print(f"{number:2} absent    {line}", flush=True)
            continue
        path = places[0]
        path.write_text(texts[path].replace(line, line.replace(old, new, 1)), encoding="utf-8")
        try:
            caught = is_caught(root, tests_of(root, path)) or is_caught(root, area_of(root, path))
        finally:
            path.write_text(texts[path], encoding="utf-8")
        word = "caught" if caught else "survived"
        counts[word] += 1
        print(f"{number:2} {word:9} {path.relative_to(root)}: {line}", flush=True)
    print(", ".join(f"{count} {word}" for word, count in counts.items()))
    return 1 if counts["survived"] else 0


if __name__ == "__main__":
    sys.exit(main())
