"""The words of the dashboard in the language of the person who reads them.

The English words are the keys. `translations/<language>.po` holds the others; `make texts` brings these files
up to date with what the pages say.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from gettext import GNUTranslations, NullTranslations
from io import BytesIO
from pathlib import Path
from typing import cast

from babel import Locale
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po
from babel.support import LazyProxy
from flask import g, has_request_context, request
from flask.sansio.app import App

LANGUAGES = {"en": "English", "de": "Deutsch", "es": "Español"}
"""Those that the dashboard speaks, by code, each with its own name."""
FOLDER = Path(__file__).parent / "translations"
_given: ContextVar[str] = ContextVar("language", default="")


def language() -> str:
    """The code of the language of this request: what the person chose, else what the browser asks for."""
    if given := _given.get():
        return given
    if not has_request_context():
        return "en"
    if chosen := getattr(g.get("operator"), "language", ""):
        return str(chosen)
    if "browser_language" not in g:  # a page asks hundreds of times
        g.browser_language = str(request.accept_languages.best_match(LANGUAGES, "en"))
    return str(g.browser_language)


def decimal_mark() -> str:
    """The point or comma of numbers in the language of this request."""
    return str(Locale.parse(language()).number_symbols["latn"]["decimal"])


@contextmanager
def written_in(code: str) -> Iterator[None]:
    """Within this block texts are in another language than the request: for letters to other people."""
    token = _given.set(code if code in LANGUAGES else "en")
    try:
        yield
    finally:
        _given.reset(token)


def _(text: str, /, **values: object) -> str:
    """The text in the reader's language, with its %(name)s filled in. A percent sign is written %% if there
    are values."""
    found = _catalogue(language()).gettext(text)
    return found % values if values else found


def ngettext(one: str, many: str, num: int, **values: object) -> str:
    """The text for this number of things; %(num)s is the number."""
    return _catalogue(language()).ngettext(one, many, num) % {"num": num, **values}


def lazy(text: str, **values: object) -> str:
    """A text that is written down before anybody asks for it, such as a label: its language is looked up when
    it is shown."""
    return cast(str, LazyProxy(_, text, enable_cache=False, **values))


def install(app: App) -> None:
    """Give the templates `_`, `ngettext` and `{% trans %}`. In them a percent sign is always written %%."""
    app.jinja_env.add_extension("jinja2.ext.i18n")
    app.jinja_env.install_gettext_callables(  # type: ignore[attr-defined]
        lambda text: _catalogue(language()).gettext(text),
        lambda one, many, num: _catalogue(language()).ngettext(one, many, num),
        newstyle=True,
    )
    app.jinja_env.globals["language"] = language


@cache
def _catalogue(code: str) -> NullTranslations:
    if code == "en":
        return NullTranslations()
    with (FOLDER / f"{code}.po").open("rb") as file:
        messages = read_po(file, locale=code)
    packed = BytesIO()
    write_mo(packed, messages)
    packed.seek(0)
    return GNUTranslations(packed)
