"""Tells pages whose text only their scripts bring."""

from __future__ import annotations

import re

from crawler.page import Page

_LITTLE_TEXT = 500
"""Characters; what stands around an empty application is less: a notice, a copyright line."""
_SCRIPT = re.compile(rb"<script\b", re.IGNORECASE)
# The element that React, Vue, Angular, Next, Nuxt, Gatsby, SvelteKit, Quasar or Ember fills.
_ROOT = re.compile(
    rb"""\bid\s*=\s*["']?(?:root|app|app-root|__next|__nuxt|__layout|___gatsby|svelte|react-root|q-app|main-app"""
    rb"""|ember-app|application)["'\s>]|<[a-z-]{1,40}-(?:app|root)[\s>]|\b(?:ng-app|ng-version|data-reactroot)\b""",
    re.IGNORECASE,
)
_MOST_NOTICES = 20


def needs_rendering(body: bytes, page: Page) -> bool:
    """Whether the HTML `body`, from which `page` was read, says nothing before its scripts have run."""
    if not _SCRIPT.search(body):
        return False
    characters = sum(len(block.text) for block in page.blocks)
    if characters == 0:
        return True
    return characters < _LITTLE_TEXT and bool(_ROOT.search(body) or _asks_for_scripts(body))


def _asks_for_scripts(body: bytes) -> bool:
    notices = body.lower().split(b"<noscript", _MOST_NOTICES)[1:]
    return any(b"javascript" in notice.partition(b"</noscript")[0][:2000] for notice in notices)
