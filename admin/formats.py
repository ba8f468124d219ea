"""How figures and times are written on the dashboard: filters of its templates."""

import re
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from functools import lru_cache
from typing import Literal
from urllib.parse import urlsplit

from babel import Locale, UnknownLocaleError
from babel.dates import format_date, format_timedelta
from babel.numbers import format_decimal, format_percent
from markupsafe import Markup, escape

from admin.stored import detail_word, translated
from admin.texts import _, decimal_mark, language, lazy
from server.answering.writing.markup import answer_html
from server.domain.answer import EMBEDDED, Answer, Outcome

Unit = Literal["day", "hour", "minute"]
OUTCOMES = {
    "answered": lazy("Answered"),
    "curated": lazy("Own answer"),
    "refused": lazy("No answer"),
    "clarify": lazy("Asked back"),
    "handoff": lazy("Wanted a person"),
    "limited": lazy("Rate-limited"),
}
"""How questions end, in the words of every page: in the order of the bars, from below."""

ROLES = {"viewer": lazy("Viewer"), "editor": lazy("Editor"), "owner": lazy("Owner")}

STEPS: dict[Unit, int] = {"day": 86_400, "hour": 3600, "minute": 60}
"""Seconds of the units that times are written in: whole ones of the largest that fits."""


SIZES = {"GB": 1e9, "MB": 1e6, "kB": 1e3}


def number(value: float) -> str:
    """12345 as 12,345 in English, 12.345 in German."""
    return _decimal(value, language())


def decimal(value: float, digits: int) -> str:
    """0.5 with two digits as 0.50 in English, 0,50 in German."""
    return _decimal(value, language(), "0." + digits * "0")


def percent(share: float | None) -> str:
    """0.824 as 82% in English, 82 % in German; a dash for what was not measured."""
    return "–" if share is None else format_percent(share, locale=language())


def report_text(text: str) -> str:
    """A text of a quality report: its sentences and figures in the reader's language."""
    return re.sub(r"(?<![\w.=])(\d+)\.(?=\d+(?![\w.]))", rf"\1{decimal_mark()}", translated(text))


def ago(moment: datetime | None) -> Markup:
    """A moment as "5 minutes ago", the exact time in UTC on hover and for machines."""
    if moment is None:
        return Markup(escape(_("never")))
    exact = moment.astimezone(UTC)
    return _time(exact, _relative((datetime.now(UTC) - exact).total_seconds(), exact))


def ahead(moment: datetime) -> Markup:
    """A moment to come as "in 5 hours", the exact time in UTC on hover and for machines."""
    exact = moment.astimezone(UTC)
    seconds = (exact - datetime.now(UTC)).total_seconds()
    return _time(exact, _("in a moment") if seconds < STEPS["minute"] else _distance(seconds))


def _time(exact: datetime, words: str) -> Markup:
    return Markup('<time datetime="{}" title="{}">{}</time>').format(
        exact.isoformat(timespec="seconds"), exact.strftime("%Y-%m-%d %H:%M:%S UTC"), words
    )


def day(moment: date) -> str:
    """A day as 3 Nov 2026 or 03.11.2026."""
    return _date(moment.year, moment.month, moment.day, language())


def duration(seconds: float) -> str:
    """4.2 s, 3 min 5 s, 1 h 20 min."""
    if seconds < 10:
        return f"{_decimal(max(seconds, 0), language(), '0.0')} s"
    if seconds < 60:
        return f"{seconds:.0f} s"
    if seconds < 3600:
        return f"{int(seconds) // 60} min {int(seconds) % 60} s"
    return f"{int(seconds) // 3600} h {int(seconds) % 3600 // 60} min"


def about(seconds: float) -> str:
    """A time that is only guessed: "about 3 minutes"."""
    if seconds < 20:
        return _("a few seconds")
    rounded = round(seconds, -1) if seconds < 55 else max(seconds, 60)
    return _("about %(time)s", time=format_timedelta(timedelta(seconds=rounded), locale=language()))


def language_name(code: str) -> str:
    """The name of a language, in the language of the reader: German for de."""
    try:
        return Locale.parse(code, sep="-").get_language_name(language()) or code
    except (UnknownLocaleError, ValueError):
        return code


def milliseconds(value: float) -> str:
    """0.4 ms, 12 ms, 2.4 s."""
    if value >= 1000:
        return f"{_decimal(value / 1000, language(), '0.0')} s"
    return f"{_decimal(value, language(), '0.0' if value < 10 else '0')} ms"


def money(value: float) -> str:
    """1.20 or 0.0042, in the currency of the prices that are set; 0 for nothing."""
    if not value:
        return "0"
    return _decimal(value, language(), "#,##0.00" if value >= 1 else "0.0000")


def sentence(text: str) -> str:
    """A stored message as a sentence of the reader's language: with a capital, unless a host or name begins
    it, and a full stop."""
    text = translated(text.strip())
    if not text:
        return ""
    first = re.split(r"[\s,;]|:(?!//)", text)[0]
    shown = text[0].upper() + text[1:] if first.isalpha() and first.islower() else text
    return shown if shown[-1] in ".!?" else f"{shown}."


def outside_link(address: str, text: str = "") -> Markup:
    """A link that leaves the dashboard; plain text unless it is http(s), for pages are not trusted."""
    shown = escape(text or address)
    if urlsplit(address).scheme not in ("http", "https"):
        return shown
    return Markup('<a href="{}" target="_blank" rel="noopener noreferrer">{}</a>').format(address, shown)


def path_of(address: str, beside: str) -> str:
    """Return an address without its origin if both addresses have the same one."""
    parts, other = urlsplit(address), urlsplit(beside)
    if (parts.scheme, parts.netloc) != (other.scheme, other.netloc):
        return address
    return address.removeprefix(f"{parts.scheme}://{parts.netloc}") or "/"


def browser(header: str) -> str:
    """What a User-Agent header says, in two words. It is what a browser says of itself, and no proof."""
    # In this order: most of them name others too.
    names = {"Edg/": "Edge", "OPR/": "Opera", "Firefox/": "Firefox", "Chrome/": "Chrome", "Safari/": "Safari"}
    systems = {name: name for name in ("Windows", "Android", "iPhone", "iPad")}
    systems |= {"Mac OS": "macOS", "CrOS": "ChromeOS", "Linux": "Linux"}
    unknown = header.split("/")[0][:40]
    name = next((label for mark, label in names.items() if mark in header), unknown)
    system = next((label for mark, label in systems.items() if mark in header), "")
    return f"{name} on {system}" if system else name


def browser_word(stored: str) -> str:
    """What `browser` found, in the reader's language."""
    name, _on, system = stored.partition(" on ")
    if not system:
        return name or _("Unknown browser")
    return _("%(browser)s on %(system)s", browser=name, system=system)


def size(value: float) -> str:
    """12 bytes, 1.5 MB, 20 GB."""
    if value < 1000:
        return _("%(count)s bytes", count=number(value))
    unit, power = next((unit, power) for unit, power in SIZES.items() if value >= power)
    return f"{_decimal(value / power, language(), '#,##0.#')} {unit}"


def _relative(seconds: float, exact: datetime) -> str:
    if seconds < 60:
        return _("just now")
    if seconds >= 30 * 86_400:
        return day(exact)
    return _distance(-seconds)


def _distance(seconds: float) -> str:
    unit, size = next(step for step in STEPS.items() if abs(seconds) >= step[1])
    count = round(seconds / size) if seconds > 0 else int(seconds / size)
    return _timedelta(count * size, unit, language())


# Babel takes a while, and a page shows the same few values again and again.
@lru_cache(maxsize=10_000)
def _decimal(value: float, locale: str, form: str = "") -> str:
    return format_decimal(value, form or None, locale=locale)


@lru_cache(maxsize=10_000)
def _date(year: int, month: int, day: int, locale: str) -> str:
    return format_date(date(year, month, day), "d MMM y" if locale == "en" else "medium", locale=locale)


@lru_cache(maxsize=10_000)
def _timedelta(seconds: int, unit: Unit, locale: str) -> str:
    # With so large a threshold Babel keeps to the unit: 9 days do not become 1 week.
    found = format_timedelta(
        timedelta(seconds=seconds), unit, threshold=1e9, add_direction=True, locale=locale
    )
    return str(found)


def shown_answer(answer: Answer) -> Markup:
    """The answer as HTML. It is sanitised: texts of visitors, pages and models can do nothing in it."""
    return Markup(answer_html(answer))


def plain(answer: Answer) -> str:
    """The answer without Markdown and without citation numbers, on one line."""
    html = re.sub(r'<a class="cite"[^>]*>\d+</a>', "", answer_html(answer))
    # Only to strip the tags: what comes back is plain text again, which the template escapes.
    return re.sub(r"\s+([.,;:!?])", r"\1", Markup(html).striptags())


def written_by(answer: Answer) -> str:
    """Who wrote an answer; empty where no page was quoted either."""
    if answer.outcome is Outcome.CURATED:
        return _("Written by your team")
    if answer.model != EMBEDDED:
        return _("Written by %(model)s", model=answer.model)
    return _("Quoted from the pages, no model") if answer.citations else ""


def role_word(role: str) -> str:
    """A role of a person."""
    return str(ROLES[role])


_SHOWN: tuple[Callable[..., object], ...] = (
    *(browser, browser_word, size, path_of, number, decimal, percent, ago, ahead, day),
    *(duration, milliseconds, money, language_name),
    *(sentence, translated, detail_word, report_text, outside_link),
    *(shown_answer, plain, written_by, role_word),
)
FILTERS = {shown.__name__: shown for shown in _SHOWN}
FILTERS["outcome_word"] = lambda name: OUTCOMES.get(name, name)
