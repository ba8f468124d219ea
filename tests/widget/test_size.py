"""What a visitor has to fetch, in the forms in which the product sends it."""

from __future__ import annotations

import gzip

import brotli
import pytest

from server.api.widget_files import WidgetFiles

KB = 1024


@pytest.fixture(scope="module")
def sizes():
    """By path, as brotli and as gzip; of the languages only the largest, for a visitor fetches one."""
    files = WidgetFiles().current().files
    found = {
        name: (len(brotli.compress(asset.body, quality=11)), len(gzip.compress(asset.body, 9)))
        for name, asset in files.items()
        if name == "embed.js" or name.startswith("src/")
    }
    texts = [name for name in found if name.startswith("src/texts/")]
    for name in sorted(texts, key=lambda name: found[name])[:-1]:
        del found[name]
    return found


def test_the_loader_has_at_most_4_kb(sizes):
    assert sizes["embed.js"][1] <= 4 * KB


def test_the_whole_widget_has_at_most_20_kb(sizes):
    assert sum(gzipped for _, gzipped in sizes.values()) <= 20 * KB, sizes


def test_a_browser_with_brotli_fetches_still_less(sizes):
    assert sum(brotlied for brotlied, _ in sizes.values()) <= 18 * KB, sizes
