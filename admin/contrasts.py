"""How well the widget's colour can be read, as the page of its settings shows it."""

from __future__ import annotations

from dataclasses import dataclass

from server.domain.contrast import PANELS, SHAPE, TEXT, contrast, text_on

OWN_ACCENT = "#155e52"
"""That of a widget for which none is chosen."""


@dataclass(frozen=True, slots=True)
class Contrast:
    """The colour against one other."""

    name: str
    ground: str
    """#rrggbb; empty for the text on the colour, which is black or white, whatever can be read better."""
    ratio: float
    least: float

    @property
    def enough(self) -> bool:
        return self.ratio >= self.least


def contrasts(accent: str) -> list[Contrast]:
    """Against its text and both panels; for the widget's own colour when there is none."""
    colour = accent or OWN_ACCENT
    rows = [Contrast("Text on it", "", contrast(colour, text_on(colour)), TEXT)]
    names = {"white": "On the light panel", "dark": "On the dark panel"}
    return rows + [
        Contrast(names[name], ground, contrast(colour, ground), SHAPE) for name, ground in PANELS.items()
    ]


def warnings(accent: str) -> list[str]:
    """What is too little, in sentences."""
    return [
        f"{row.name}, the colour has a contrast of {row.ratio:.1f} : 1; {row.least:g} : 1 is wanted."
        for row in contrasts(accent)
        if not row.enough
    ]
