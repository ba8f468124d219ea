"""Whether colours can be told apart: contrast as WCAG 2 counts it."""

from __future__ import annotations

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
