"""Words that a reader can see or unfold on a page, and that the extracted page lacks.

    python -m benchmarks.visible_words FOLDER [FOLDER ...] [--pages 60] [--most 40]

Serves each folder of HTML, opens its pages in Chromium with every <details>, accordion and tab unfolded, and
looks at each piece of visible text outside of what surrounds the content: navigation, asides, the page's
header and footer, breadcrumbs, links to the pages above, search, forms and dialogs. The words of a piece are
missing where the extracted page, with its headings and title, does not hold the piece. Printed for each
folder: the share of missing words, the bar being 1 %, and the longest missing pieces.
"""

from __future__ import annotations

import argparse
import random
import re
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path

from playwright.sync_api import Browser, sync_playwright

from benchmarks.question_path import website
from crawler.extractors import SourceDocument, extract
from tests.conftest import CHROMIUM_FLAGS
from tests.crawler.marked_pages.gold import words

VISIBLE = """
() => {
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
"""
_SPACE = re.compile(r"\s+")


def folded(text: str) -> str:
    """Return the text in one case, on one line."""
    return _SPACE.sub(" ", text).strip().casefold()


def extracted(body: bytes, address: str) -> str:
    """Return all that is kept of a page: its title, and each block below its headings."""
    page = extract(SourceDocument(address, body)).page
    return folded("\n".join([page.title, *("\n".join((*b.heading_path, b.text)) for b in page.blocks)]))


def visible(browser: Browser, addresses: Sequence[str]) -> Iterator[list[str]]:
    """Yield the pieces of visible text of each page."""
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    for address in addresses:
        page.goto(address)
        yield page.evaluate(VISIBLE)
    page.close()


def main() -> None:
    """Print a line for each folder, and the pieces that miss most."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folders", type=Path, nargs="+")
    parser.add_argument("--pages", type=int, default=60, help="pages of each folder, chosen by lot")
    parser.add_argument("--most", type=int, default=40, help="pieces of text to show of each folder")
    given = parser.parse_args()
    program = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))))
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=CHROMIUM_FLAGS)
        for folder in given.folders:
            files = sorted(folder.rglob("*.html"))
            files = sorted(random.Random(1).sample(files, min(given.pages, len(files))))
            total, lost, worst = 0, 0, []
            with website(folder) as start:
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
            for count, name, piece in sorted(worst, reverse=True)[: given.most]:
                print(f"  {count:4} {name}: {piece[:150]}")
        browser.close()


if __name__ == "__main__":
    main()
