"""How figures and times are written on the dashboard: filters of its templates."""

import re
from collections.abc import Callable
from datetime import UTC, datetime
from urllib.parse import urlsplit

from markupsafe import Markup, escape

from server.answering.writing.markup import answer_html
from server.domain.answer import Answer

STEPS = ((60, "minute"), (3600, "hour"), (86_400, "day"))


def number(value: int) -> str:
    """12345 as 12,345."""
    return f"{value:,}"


def ago(moment: datetime | None) -> Markup:
    """A moment as "5 minutes ago", the exact time in UTC on hover and for machines."""
    if moment is None:
        return Markup("never")
    exact = moment.astimezone(UTC)
    return Markup('<time datetime="{}" title="{}">{}</time>').format(
        exact.isoformat(timespec="seconds"),
        exact.strftime("%Y-%m-%d %H:%M:%S UTC"),
        _relative((datetime.now(UTC) - exact).total_seconds(), exact),
    )


def ahead(moment: datetime) -> Markup:
    """A moment to come as "in 5 hours", the exact time in UTC on hover and for machines."""
    exact = moment.astimezone(UTC)
    seconds = (exact - datetime.now(UTC)).total_seconds()
    size, name = next((step for step in reversed(STEPS) if seconds >= step[0]), STEPS[0])
    count = max(1, round(seconds / size))
    words = "in a moment" if seconds < 60 else f"in {count} {name}{'s' if count > 1 else ''}"
    return Markup('<time datetime="{}" title="{}">{}</time>').format(
        exact.isoformat(timespec="seconds"), exact.strftime("%Y-%m-%d %H:%M:%S UTC"), words
    )


def duration(seconds: float) -> str:
    """4.2 s, 3 min 5 s, 1 h 20 min."""
    if seconds < 10:
        return f"{max(seconds, 0):.1f} s"
    if seconds < 60:
        return f"{seconds:.0f} s"
    if seconds < 3600:
        return f"{int(seconds) // 60} min {int(seconds) % 60} s"
    return f"{int(seconds) // 3600} h {int(seconds) % 3600 // 60} min"


def milliseconds(value: float) -> str:
    """0.4 ms, 12 ms, 2.4 s."""
    if value >= 1000:
        return f"{value / 1000:.1f} s"
    return f"{value:.1f} ms" if value < 10 else f"{value:.0f} ms"


def money(value: float) -> str:
    """1.20 or 0.0042, in the currency of the prices that are set; 0 for nothing."""
    if not value:
        return "0"
    return f"{value:,.2f}" if value >= 1 else f"{value:.4f}"


def sentence(text: str) -> str:
    """A stored message as a sentence: with a capital, unless a host or name begins it, and a full stop."""
    text = text.strip()
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
    unknown = header.split("/")[0][:40] or "Unknown browser"
    name = next((label for mark, label in names.items() if mark in header), unknown)
    system = next((label for mark, label in systems.items() if mark in header), "")
    return f"{name} on {system}" if system else name


def _relative(seconds: float, exact: datetime) -> str:
    if seconds < 60:
        return "just now"
    if seconds >= 30 * 86_400:
        return exact.strftime("%-d %b %Y")
    size, name = next((step for step in reversed(STEPS) if seconds >= step[0]), STEPS[0])
    count = int(seconds // size)
    return f"{count} {name}{'s' if count > 1 else ''} ago"


def plain(answer: Answer) -> str:
    """The answer without Markdown and without citation numbers, on one line."""
    html = re.sub(r'<a class="cite"[^>]*>\d+</a>', "", answer_html(answer))
    # Only to strip the tags: what comes back is plain text again, which the template escapes.
    return re.sub(r"\s+([.,;:!?])", r"\1", Markup(html).striptags())


def model_word(model: str) -> str:
    """Who wrote an answer."""
    return "quoted, no model" if model == "embedded" else model


_SHOWN: tuple[Callable[..., object], ...] = (
    *(browser, path_of, number, ago, ahead, duration, milliseconds, money),
    *(sentence, outside_link, plain, model_word),
)
FILTERS = {shown.__name__: shown for shown in _SHOWN}
