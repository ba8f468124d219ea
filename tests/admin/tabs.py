"""Tabs of a real browser on the dashboard."""

from contextlib import contextmanager

SIZES = {"phone": (390, 844), "desk": (1280, 900)}

# Browsers log every answer that is not a success; these pages are meant to say so.
EXPECTED = ("status of 404", "status of 422")


@contextmanager
def opened(browser, address, size, scheme, cookies=(), expected=EXPECTED, language="en"):
    """A tab whose console must stay silent but for what is `expected`."""
    width, height = SIZES[size]
    context = browser.new_context(
        viewport={"width": width, "height": height}, color_scheme=scheme, base_url=address, locale=language
    )
    context.add_cookies(list(cookies))
    tab = context.new_page()
    said = []
    tab.on(
        "console", lambda message: said.append(message.text) if message.type in ("error", "warning") else 0
    )
    tab.on("pageerror", lambda error: said.append(str(error)))
    try:
        yield tab
    finally:
        context.close()
    unexpected = [text for text in said if not any(words in text for words in expected)]
    assert not unexpected, unexpected
