"""How the widget looks on a site: texts that are safe in a style sheet, in an attribute, in an address.

`Look.checked` is for who types them and says what is wrong; `Look.read` is for what is stored and leaves out
what is wrong. Nothing else leaves the server, so no value in the database can become a rule of its own.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, fields
from urllib.parse import urlsplit

POSITIONS = ("right", "left")
THEMES = ("auto", "light", "dark")
ICONS = ("chat", "help", "spark", "search")
LABEL_CHARS, TITLE_CHARS = 40, 60
RADIUS_PX, OFFSET_PX = 32, 200
"""The largest."""
FONT_CHARS, FAMILIES = 200, 8
ADDRESS_CHARS = 500

_ACCENT = re.compile(r"#?([0-9a-fA-F]{3}|[0-9a-fA-F]{6})")
_PIXELS = re.compile(r"(\d{1,4})(?:\.\d+)?\s*(?:px)?", re.I)
_FAMILY = re.compile(r"-?[^\W\d_][\w-]*(?: -?[^\W\d_][\w-]*)*")
_UNSAFE = re.compile(r"[\s\"'<>\\(){};`^|\x00-\x1f\x7f]")
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]+")


@dataclass(frozen=True, slots=True)
class Look:
    """Each may be empty: then the widget has its own default."""

    accent: str = ""
    """#rrggbb."""
    position: str = ""
    """One of POSITIONS; empty: by the direction of the page's language."""
    theme: str = ""
    """One of THEMES."""
    radius: str = ""
    """A length such as 12px."""
    font: str = ""
    """Family names without quotes, the first that a visitor has is taken; "inherit" takes the page's."""
    offset: str = ""
    """Distance from the edges, as a length."""
    icon: str = ""
    """One of ICONS."""
    label: str = ""
    """Words on the launcher."""
    title: str = ""
    """Name of the panel."""
    avatar: str = ""
    """Address of a picture: https, or a path on this server."""

    @classmethod
    def checked(cls, given: Mapping[str, str]) -> tuple[Look, dict[str, str]]:
        """The look with what is right in it, and what to do about each field that is wrong."""
        values: dict[str, str] = {}
        faults: dict[str, str] = {}
        for name, rule in _RULES.items():
            text = given.get(name, "").strip()
            try:
                values[name] = rule(text) if text else ""
            except ValueError as error:
                faults[name] = str(error)
        return cls(**values), faults

    @classmethod
    def read(cls, stored: object) -> Look:
        """From `Site.options["look"]`; what is no text, unknown or wrong counts as empty."""
        given = stored if isinstance(stored, Mapping) else {}
        texts = {field.name: given.get(field.name) for field in fields(cls)}
        return cls.checked({name: text for name, text in texts.items() if isinstance(text, str)})[0]

    def to_json(self) -> dict[str, str]:
        """Only what is not empty."""
        return {name: text for name, text in asdict(self).items() if text}


def one_line(text: str) -> str:
    """Without line breaks, control characters and signs that turn the direction of what follows."""
    return " ".join(_CONTROL.sub(" ", text).split())


def checked_link(text: str) -> str:
    """The address of a page, to be shown as a link. Raises ValueError."""
    return _address(text, ("https", "http"), "write one that begins with https://")


def checked_picture(text: str) -> str:
    """An https address, or a path on this server. Raises ValueError."""
    if text.startswith("/") and not text.startswith("//") and not _UNSAFE.search(text):
        return text[:ADDRESS_CHARS]
    return _address(text, ("https",), "write one that begins with https:// or, on this server, with /")


def _address(text: str, schemes: tuple[str, ...], ways: str) -> str:
    if len(text) > ADDRESS_CHARS or _UNSAFE.search(text):
        raise ValueError(f"This is not an address: {ways}.")
    try:
        parts = urlsplit(text)
        sound = (
            parts.scheme in schemes and bool(parts.hostname) and "@" not in parts.netloc and parts.port != 0
        )
    except ValueError:  # a port that is no number, a broken IPv6 address
        sound = False
    if not sound:
        raise ValueError(f"Browsers would not open this address: {ways}.")
    return text


def _accent(text: str) -> str:
    found = _ACCENT.fullmatch(text)
    if not found:
        raise ValueError("Write the colour as # and six digits, such as #1a7868.")
    digits = found[1].lower()
    return "#" + (digits if len(digits) == 6 else "".join(2 * digit for digit in digits))


def _one_of(names: tuple[str, ...]) -> Callable[[str], str]:
    def rule(text: str) -> str:
        if text.lower() not in names:
            raise ValueError(f"Choose one of {', '.join(names)}.")
        return text.lower()

    return rule


def _pixels(largest: int) -> Callable[[str], str]:
    def rule(text: str) -> str:
        found = _PIXELS.fullmatch(text)
        if not found or int(found[1]) > largest:
            raise ValueError(f"Write a length from 0 to {largest} px, such as 12px.")
        return f"{int(found[1])}px"

    return rule


def _font(text: str) -> str:
    families = [" ".join(name.split()).strip("\"' ") for name in text.split(",")]
    families = [name for name in families if name]
    if len(text) > FONT_CHARS or len(families) > FAMILIES or not all(map(_FAMILY.fullmatch, families)):
        raise ValueError(
            "Write names of fonts with commas between them, such as Inter, Noto Sans, sans-serif. "
            "A name has letters, digits, hyphens and spaces, and its words begin with a letter."
        )
    return ", ".join(families)


def _line(longest: int) -> Callable[[str], str]:
    def rule(text: str) -> str:
        line = one_line(text)
        if len(line) > longest:
            raise ValueError(f"This has {len(line)} characters; keep to {longest}.")
        return line

    return rule


_RULES: Mapping[str, Callable[[str], str]] = {
    "accent": _accent,
    "position": _one_of(POSITIONS),
    "theme": _one_of(THEMES),
    "radius": _pixels(RADIUS_PX),
    "font": _font,
    "offset": _pixels(OFFSET_PX),
    "icon": _one_of(ICONS),
    "label": _line(LABEL_CHARS),
    "title": _line(TITLE_CHARS),
    "avatar": checked_picture,
}


TEXT, SHAPE = 4.5, 3.0
"""Least contrast of text, and of what is no text, such as the launcher against the page."""
PANELS = {"white": "#ffffff", "dark": "#1b1c1e"}
"""The widget's own grounds."""
LIGHT, DARK = "#ffffff", "#000000"


def luminance(colour: str) -> float:
    """Of #rrggbb, in [0, 1]."""
    shares = (int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5))
    linear = [share / 12.92 if share <= 0.04045 else ((share + 0.055) / 1.055) ** 2.4 for share in shares]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    """Of two colours, from 1 for equal ones to 21 for black and white."""
    dark, light = sorted((luminance(one), luminance(other)))
    return (light + 0.05) / (dark + 0.05)


def text_on(accent: str) -> str:
    """Which of black and white can be read better on it."""
    return max((LIGHT, DARK), key=lambda text: contrast(accent, text))


CHOSEN = "suggestions_chosen"
"""The key in `Site.options` that is true when an operator wrote the suggestions: crawls then leave them."""
GREETING_CHARS = 300
SUGGESTIONS, SUGGESTION_CHARS = 6, 120


@dataclass(frozen=True, slots=True)
class Welcome:
    """The greeting with the questions under it; both may be empty."""

    greeting: str = ""
    suggestions: tuple[str, ...] = ()

    @classmethod
    def of(cls, options: Mapping[str, object]) -> Welcome:
        """Return the site's greeting and suggestions; invalid values count as empty, long ones are cut."""
        greeting, listed = options.get("greeting"), options.get("suggestions")
        texts = (
            [one_line(text) for text in listed if isinstance(text, str)] if isinstance(listed, list) else []
        )
        return cls(
            one_line(greeting)[:GREETING_CHARS] if isinstance(greeting, str) else "",
            tuple(dict.fromkeys(text[:SUGGESTION_CHARS] for text in texts if text))[:SUGGESTIONS],
        )
