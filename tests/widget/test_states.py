"""Every state at every width, in every look: nothing runs over, and axe-core finds nothing.

With DOCENT_SCREENSHOTS=FOLDER each is kept there as a picture.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Page

from tests.axe import findings
from tests.widget.service import Script, Server
from tests.widget.states import STATES, Scene
from tests.widget.test_texts import rows

LOOKING = (Path(__file__).parent / "looking.js").read_text(encoding="utf-8").strip().partition("\n")[2]
SCREENS = {320: 568, 390: 844, 768: 1024, 1280: 800}
RULES = {"light": [], "dark": ["color-contrast"]}
"""The other rules do not depend on colours; they are checked on a wide screen, and on a phone from right to left, where
the colours are not looked at again: they depend on the language as little."""
LOOKS = {
    "light": {"color_scheme": "light", "forced_colors": "none"},
    "dark": {"color_scheme": "dark", "forced_colors": "none"},
    "forced": {"color_scheme": "dark", "forced_colors": "active"},
}


@pytest.fixture(scope="module")
def profiles(browser: Browser, server: Server) -> Iterator[dict[str, BrowserContext]]:
    """By language; a new one takes longer than all that is done in it for one state."""
    made = {}
    for language in ("en", "ar"):
        made[language] = browser.new_context(reduced_motion="reduce", locale="en-US")
        made[language].set_default_timeout(8000)
        # It keeps the process that draws the others.
        made[language].new_page().goto(server.home + "/widget/embed.js")
    yield made
    for context in made.values():
        context.close()


@pytest.fixture
def scene(
    profiles: dict[str, BrowserContext], server: Server, script: Script
) -> Iterator[Callable[..., Scene]]:
    """Makes a scene in a language, on a screen of a width."""
    pages = []

    def make(language: str, width: int) -> Scene:
        context = profiles[language]
        page = context.new_page()
        pages.append(page)
        page.set_viewport_size({"width": width, "height": SCREENS[width]})
        forget = {"origin": server.home, "storageTypes": "local_storage"}
        context.new_cdp_session(page).send("Storage.clearDataForOrigin", forget)
        return Scene(context, page, script, server.home, rows(language), language)

    yield make
    script.hold.set()
    for page in pages:
        page.close()


def look(page: Page, name: str) -> Any:
    """The result of a function of looking.js, after the page has drawn what was changed last."""
    return page.evaluate(
        f"""async () => {{
          await new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)));
          return ({LOOKING.removesuffix(";")}).{name}(); }}"""
    )


def keep(page: Page, state: str, name: str, width: int) -> None:
    folder = os.environ.get("DOCENT_SCREENSHOTS")
    if folder:
        file = re.sub(r"\W+", "-", f"{state} {name} {width}") + ".png"
        page.screenshot(path=Path(folder) / file)


@pytest.mark.parametrize("state", STATES)
def test_a_state_fits_every_screen_and_look(scene, state):
    shown = scene("en", 1280)
    STATES[state](shown)
    wrong = []
    for name, media in LOOKS.items():
        shown.page.emulate_media(**media)
        for width in reversed(SCREENS):
            shown.page.set_viewport_size({"width": width, "height": SCREENS[width]})
            wrong += [f"{name} {width}: {one}" for one in look(shown.page, "misplaced")]
            if (name, width) in {("light", 1280), ("dark", 390)}:
                wrong += [f"{name} {width}: {one}" for one in findings(shown.page, RULES[name])]
            keep(shown.page, state, name, width)
    shown.page.set_viewport_size({"width": 390, "height": 844})
    seen, small = look(shown.page, "small")
    assert seen
    wrong += [f"smaller than 24 px: {one}" for one in small]
    # To a page, a zoom of 200 % on a screen of 1280 by 800 is a screen of half its size.
    shown.page.set_viewport_size({"width": 640, "height": 400})
    wrong += [f"at 200 %: {one}" for one in look(shown.page, "misplaced")]
    keep(shown.page, state, "zoomed", 640)
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("state", STATES)
def test_a_state_on_a_phone_from_right_to_left(scene, state):
    shown = scene("ar", 390)
    STATES[state](shown)
    wrong = []
    for width in SCREENS:
        shown.page.set_viewport_size({"width": width, "height": SCREENS[width]})
        wrong += [f"{width}: {one}" for one in look(shown.page, "misplaced")]
        if width == 390:
            wrong += findings(shown.page, without=["color-contrast"])
        keep(shown.page, state, "ar", width)
    assert not wrong, "\n".join(wrong)
