"""Which pages are worth a browser."""

from __future__ import annotations

import time

import pytest

from crawler.content import needs_rendering
from crawler.extractors import SourceDocument, extract

SCRIPT = "<script src=/app.js></script>"
TEXT = f"<main><h1>Tea</h1><p>{'We sell tea of all kinds to everybody who likes it. ' * 15}</p></main>"


def judged(markup: str) -> bool:
    body = markup.encode()
    return needs_rendering(body, extract(SourceDocument("https://example.com/", body)).page)


@pytest.mark.parametrize(
    "markup",
    [
        f"<body><div id=root></div>{SCRIPT}</body>",
        f'<body><div id="app"><p>Loading…</p></div>{SCRIPT}</body>',
        f'<body><div id="__next"></div><footer><p>Copyright Shop</p></footer>{SCRIPT}</body>',
        f"<body><shop-root>Please wait a moment</shop-root>{SCRIPT}</body>",
        f"<body><noscript>You need to enable JavaScript to run this app.</noscript><p>Shop</p>{SCRIPT}</body>",
        f"<body>{SCRIPT}</body>",
        "<body><script>document.write('all of it')</script></body>",
    ],
)
def test_pages_without_text_of_their_own_need_a_browser(markup: str) -> None:
    assert judged(markup)


@pytest.mark.parametrize(
    "markup",
    [
        f"<body>{TEXT}{SCRIPT}</body>",
        f'<body><div id="__next">{TEXT}</div>{SCRIPT}</body>',
        f"<body><noscript>Please enable JavaScript.</noscript>{TEXT}{SCRIPT}</body>",
        f"<body><main><h1>Closed</h1><p>We are closed today.</p></main>{SCRIPT}</body>",
        "<body><div id=root></div></body>",
        "<body></body>",
    ],
)
def test_pages_with_text_or_without_scripts_do_not(markup: str) -> None:
    assert not judged(markup)


def test_a_page_of_nothing_but_openings_is_judged_quickly() -> None:
    page = extract(SourceDocument("https://example.com/", b"<p>x</p>")).page
    for piece in (b"<noscript>", b"<noscript ", b"<a-", b"id=", b"<script"):
        began = time.process_time()
        needs_rendering(b"<script>" + piece * 200_000, page)
        assert time.process_time() - began < 2
