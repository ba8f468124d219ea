"""Words that a reader can see or unfold on a page, and that the extracted page lacks.

    python -m benchmarks.visible_words FOLDER [FOLDER ...] [--pages 60] [--most 40]
    python -m benchmarks.visible_words FOLDER [FOLDER ...] --compare 10 [--seed 1]

Serves each folder of HTML, opens its pages in Chromium with every <details>, accordion and tab unfolded, and
looks at each piece of visible text outside of what surrounds the content: navigation, asides, the page's
header and footer, breadcrumbs, links to the pages above, search, forms and dialogs. The words of a piece are
missing where the extracted page, with its headings and title, does not hold the piece. Printed for each
folder: the share of missing words, the bar being 1 %, and the longest missing pieces.

With `--compare`, that many pages of each folder are printed as Markdown: their rendered lines, with those
around the content, and the lines of the extracted blocks. What only one side has is bold.
"""

from __future__ import annotations

import random
import re
import shutil
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from itertools import zip_longest
from pathlib import Path

from playwright.sync_api import Browser, sync_playwright

from benchmarks.command_line import argument_parser
from benchmarks.web_server import website
from crawler.extractors import SourceDocument, extract
from tests.conftest import CHROMIUM_FLAGS
from tests.crawler.marked_pages.gold import words

UNFOLD = """
  for (const element of document.querySelectorAll("details")) element.open = true;
  const panels = new Set(document.querySelectorAll(
    "[role=tabpanel], .tab-pane, .tab-content > *, .collapse, .accordion-collapse, .panel-collapse, " +
    ".usa-accordion__content, [hidden=until-found]"));
  for (const opener of document.querySelectorAll("[aria-controls]:not(nav *):not(header *):not(form *)")) {
    for (const id of opener.getAttribute("aria-controls").split(" ")) {
      const panel = document.getElementById(id);
      if (panel && !panel.closest("nav, header, [role=dialog], [role=menu]")) panels.add(panel);
    }
  }
  for (const panel of panels) {
    panel.hidden = false;
    panel.style.cssText += "; display: block !important; visibility: visible !important";
    panel.style.cssText += "; height: auto !important";
  }
"""
LINES = f"() => {{ {UNFOLD} return document.body.innerText.split('\\n'); }}"
VISIBLE = """
() => {
  UNFOLD
  const around = "script, style, noscript, template, nav, body > header, body > * > header, footer, aside, " +
    "[role=navigation], [role=banner], [role=contentinfo], [role=search], [role=dialog], [role=menu], " +
    "[role=alertdialog], [role=complementary], dialog, form, button, select, .breadcrumb, .breadcrumbs, " +
    ".cookie, .cookies, .cookie-banner, .sidebar, [aria-hidden=true], [class*=skip-], .sr-only, " +
    ".visually-hidden, .headerlink";
  const pieces = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const text = node.data.trim(), parent = node.parentElement;
    if (!text || parent.closest(around)) continue;
    const link = parent.closest("a[href]");
    if (link && link.href !== location.href && location.href.startsWith(link.href)) continue;  // "Back"
    if (!parent.getClientRects().length || getComputedStyle(parent).visibility !== "visible") continue;
    pieces.push(text);
  }
  return pieces;
}
""".replace("UNFOLD", UNFOLD)
_SPACE = re.compile(r"\s+")
_MARKER = re.compile(r"^\s*(?:- |\d{1,3}\. |#{1,7} )")


def folded(text: str) -> str:
    """Return the text in one case, on one line."""
    return _SPACE.sub(" ", text).strip().casefold()


def extracted(body: bytes, address: str) -> str:
    """Return all that is kept of a page: its title, and each block below its headings."""
    page = extract(SourceDocument(address, body)).page
    return folded("\n".join([page.title, *("\n".join((*b.heading_path, b.text)) for b in page.blocks)]))


def _redirects(file: Path) -> bool:
    return bool(extract(SourceDocument("http://127.0.0.1/", file.read_bytes())).refresh)


def visible(browser: Browser, addresses: Sequence[str], script: str = VISIBLE) -> Iterator[list[str]]:
    """Yield the pieces of visible text of each page, or what another script returns."""
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    for address in addresses:
        page.goto(address)
        yield page.evaluate(script)
    page.close()


def block_lines(body: bytes, address: str) -> Iterator[str]:
    """Yield the lines of a page's blocks, each heading once above what it heads."""
    path: tuple[str, ...] = ()
    for block in extract(SourceDocument(address, body)).page.blocks:
        for depth, heading in enumerate(block.heading_path):
            if path[: depth + 1] != block.heading_path[: depth + 1]:
                yield f"{'#' * (depth + 1)} {heading}"
        path = block.heading_path
        yield from block.text.split("\n")


def compared(rendered: Sequence[str], kept: Sequence[str]) -> Iterator[str]:
    """Yield the rows of a Markdown table with the lines of both sides, in bold where only one has them."""
    shown = [line for line in map(folded, rendered) if line]
    bare = ([folded(_MARKER.sub("", line)) for line in side] for side in (shown, kept))
    matcher = SequenceMatcher(None, *bare, autojunk=False)
    yield "| rendered | extracted |"
    yield "| --- | --- |"
    for kind, i, j, k, m in matcher.get_opcodes():
        mark = "" if kind == "equal" else "**"
        for left, right in zip_longest(shown[i:j], kept[k:m], fillvalue=""):
            cells = (f"{mark}{_cell(one)}{mark}" if one.strip() else "" for one in (left, right))
            yield f"| {' | '.join(cells)} |"


def _cell(text: str) -> str:
    return folded(text).replace("|", "\\|")


def print_missing(browser: Browser, folder: Path, files: Sequence[Path], start: str, most: int) -> None:
    """Print the share of missing words, and the longest missing pieces."""
    total, lost, worst = 0, 0, []
    addresses = [start + file.relative_to(folder).as_posix() for file in files]
    for file, address, pieces in zip(files, addresses, visible(browser, addresses), strict=True):
        kept = extracted(file.read_bytes(), address)
        for piece in pieces:
            count = words(piece).total()
            total += count
            if folded(piece) not in kept and count:
                lost += count
                worst.append((count, file.relative_to(folder).as_posix(), folded(piece)))
    share = 100 * lost / max(1, total)
    print(f"{folder}: {len(files)} pages, {total} words, {lost} missing, {share:.2f} %")
    for count, name, piece in sorted(worst, reverse=True)[:most]:
        print(f"  {count:4} {name}: {piece[:150]}")


def print_compared(browser: Browser, folder: Path, files: Sequence[Path], start: str) -> None:
    """Print the pages with both sides."""
    addresses = [start + file.relative_to(folder).as_posix() for file in files]
    for file, address, lines in zip(files, addresses, visible(browser, addresses, LINES), strict=True):
        print(f"\n## {folder.parent.name}: {file.relative_to(folder).as_posix()}\n")
        print("\n".join(compared(lines, list(block_lines(file.read_bytes(), address)))))


def main() -> None:
    """Print a line for each folder and the pieces that miss most, or some pages with both sides."""
    parser = argument_parser(__doc__)
    parser.add_argument("folders", type=Path, nargs="+")
    parser.add_argument("--pages", type=int, default=60, help="pages of each folder, chosen by lot")
    parser.add_argument("--most", type=int, default=40, help="pieces of text to show of each folder")
    parser.add_argument("--compare", type=int, default=0, help="pages to print with both sides")
    parser.add_argument("--seed", type=int, default=1, help="of the lot")
    given = parser.parse_args()
    program = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))))
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=CHROMIUM_FLAGS)
        for folder in given.folders:
            files = sorted(folder.rglob("*.html"))
            chosen = min(given.compare or given.pages, len(files))
            files = sorted(random.Random(given.seed).sample(files, chosen))
            files = [file for file in files if not _redirects(file)]
            with website(folder) as start:
                if given.compare:
                    print_compared(browser, folder, files, start)
                else:
                    print_missing(browser, folder, files, start, given.most)
        browser.close()


if __name__ == "__main__":
    main()
