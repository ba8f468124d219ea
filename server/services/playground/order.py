"""What is asked in the playground, and with which settings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from server.domain.question import Turn
from server.domain.site import Site
from server.domain.voice import INSTRUCTIONS, TONE

EMBEDDED = "embedded"
"""As writer: no model is asked, the site's own sentences are quoted."""
FLOOR, TUNING = "relevance_floor", "tuning"
"""The keys of these settings in `Site.options`."""


@dataclass(frozen=True, slots=True)
class Way:
    """One column: how the site is searched, and what is made of what was found."""

    strategy: str
    flow: str
    writer: str = ""
    """Empty for the chat model where there is one, or EMBEDDED."""

    @property
    def name(self) -> str:
        """As the page calls it."""
        return f"{self.strategy}, {self.flow}{', quoted' if self.writer == EMBEDDED else ''}"


@dataclass(frozen=True, slots=True)
class Order:
    """One question. What is None is as the site has it."""

    question: str
    ways: tuple[Way, ...]
    history: tuple[Turn, ...] = ()
    language: str = ""
    """Empty: as it is recognised."""
    floor: float | None = None
    retrieve_limit: int | None = None
    tone: str | None = None
    instructions: str | None = None
    tuning: Mapping[str, object] = field(default_factory=dict)
    """Only what differs from the site's."""
    curated: bool = True
    """Whether the operator's own answers may answer."""
    answer_cache: bool = False
    """Whether an answer that a visitor got may be given again."""
    prompts: bool = True
    """Whether what models are told and reply is kept."""

    def site(self, site: Site, way: Way) -> Site:
        """The site as if these settings were saved."""
        return replace(site, strategy=way.strategy, flow=way.flow, options=self.options(site))

    def asked_site(self, site: Site, way: Way) -> Site:
        """The same for asking: without the cache of answers, unless it was asked for."""
        made = self.site(site, way)
        if self.answer_cache:
            return made
        tuning = {**_tuning(made.options), "answer_cache": False}
        return replace(made, options={**made.options, TUNING: tuning})

    def options(self, site: Site) -> dict[str, object]:
        """The site's options with what is asked for instead."""
        options = dict(site.options)
        given = {FLOOR: self.floor, TONE: self.tone, INSTRUCTIONS: self.instructions}
        options |= {name: value for name, value in given.items() if value is not None}
        if self.tuning:
            options[TUNING] = {**_tuning(options), **self.tuning}
        return options


def _tuning(options: Mapping[str, object]) -> dict[str, object]:
    own = options.get(TUNING)
    return dict(own) if isinstance(own, dict) else {}
