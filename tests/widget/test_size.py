"""What a visitor has to fetch, in the forms in which the product sends it."""

from __future__ import annotations

import gzip
import re

import brotli
import pytest

from server.api.assets.widget_files import WidgetFiles

KB = 1024


@pytest.fixture(scope="module")
def sizes():
    """By path, as brotli and as gzip, of all that one visitor may come to fetch: the loader, the element's
    module, each that is imported later, and the largest of the languages."""
    files = WidgetFiles().current().files
    later = re.findall(r'\bimport\("\./([\w/.-]+)"\)', files["src/site-chat.js"].body.decode())
    texts = [name for name in files if name.startswith("src/texts/")]
    names = {"embed.js", "src/site-chat.js", *(f"src/{name}" for name in later)}
    names.add(max(texts, key=lambda name: len(gzip.compress(files[name].body, 9))))
    bodies = {name: files[name].body for name in sorted(names)}
    return {
        name: (len(brotli.compress(body, quality=11)), len(gzip.compress(body, 9)))
        for name, body in bodies.items()
    }


def test_the_loader_has_at_most_4_kb(sizes):
    assert sizes["embed.js"][1] <= 4 * KB


def test_the_whole_widget_has_at_most_20_kb(sizes):
    assert sum(gzipped for _, gzipped in sizes.values()) <= 20 * KB, sizes


def test_a_browser_with_brotli_fetches_still_less(sizes):
    assert sum(brotlied for brotlied, _ in sizes.values()) <= 18 * KB, sizes
