"""What strategies derive from the chunks of a site: summaries, questions, entities, reports."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Protocol

from server.domain.chunk import Chunk
from server.domain.spending import Used


@dataclass(frozen=True, slots=True)
class Record:
    """A derived text, searched in addition to the chunks or in their place."""

    id: str
    """Stable: equal content gives an equal id; see `record_id`."""
    text: str
    """What is embedded, or searched by its words."""
    sources: tuple[str, ...]
    """Ids of the chunks that it comes from, the most telling first; never empty."""
    url: str = ""
    """The page, where it comes from one."""
    title: str = ""
    language: str = ""
    data: Mapping[str, object] = field(default_factory=dict)
    """Whatever else the strategy keeps of it; JSON values only."""

    def as_chunk(self) -> Chunk:
        """In the shape that indexes take; it stands on no page as it is, so it is never quoted."""
        return Chunk(self.id, self.url, self.title, (), self.text, 0, self.language)


def record_id(*content: str) -> str:
    """32 hexadecimal digits of what a record is made of."""
    return hashlib.sha256("\x1e".join(content).encode("utf-8", "replace")).hexdigest()[:32]


@dataclass(frozen=True, slots=True)
class PageFacts:
    """What a page says in addition to its text."""

    description: str = ""
    """The page's own summary (meta description or the like)."""
    breadcrumbs: tuple[str, ...] = ()
    """Names of the pages above it, from the start page on."""
    links: tuple[tuple[str, str], ...] = ()
    """(address, words of the link), in page order, addresses without fragments."""
    questions: tuple[tuple[str, str], ...] = ()
    """(question, answer) pairs that the page marks as such."""
    facts: tuple[tuple[str, str, str], ...] = ()
    """(kind, name, value) of facts that the page marks up, such as its telephone number."""


class SiteText(Protocol):
    """All that a derived index is made from: one complete generation, live or about to be."""

    @property
    def generation(self) -> int: ...

    def pages(self) -> Iterator[list[Chunk]]:
        """The chunks of each page in page order, pages by address."""

    def facts(self, url: str) -> PageFacts:
        """Empty for a page of which nothing is known."""


@dataclass(frozen=True, slots=True)
class Plan(Used):
    """What a build would take now, tokens out at most; what is remembered of earlier builds costs nothing
    again."""

    remembered: int = 0
    """Calls that need not be made, since their replies are kept."""


class BuildStopped(Exception):
    """Somebody wanted the build to end. What models said so far is kept; the index before stays in use."""


class Monitor(Protocol):
    """Follows a build. Every method raises BuildStopped when the build is to end."""

    def step(self, name: str, done: int, total: int) -> None:
        """`name` says in a few words what is done: "summaries, layer 2"."""

    def spent(self, used: Used) -> None:
        """Note what one model call used."""


class Unwatched:
    """Implements Monitor for builds that nobody follows."""

    def step(self, name: str, done: int, total: int) -> None:
        """Nothing."""

    def spent(self, used: Used) -> None:
        """Nothing."""


@dataclass(frozen=True, slots=True)
class Calibration:
    """The zero mark on the scale of cosines between a question and what a page says."""

    off_topic: float = 0.16
    """How near questions that no such site answers come to the site's headings and sentences; the default is
    the embedded model's, which differs little from site to site."""

    def nearness(self, cosine: float) -> float:
        """0 as far as an off-topic question, 1 for the same words; at least -0.5."""
        return max(-0.5, (cosine - self.off_topic) / max(1 - self.off_topic, 0.05))

    def to_json(self, fingerprint: str) -> dict[str, object]:
        """As it is kept with a site; `fingerprint` names the embedder that it was measured with."""
        return {"off_topic": self.off_topic, "scale": _SCALE, "embedder": fingerprint}

    @classmethod
    def from_json(cls, value: object, fingerprint: str) -> Calibration:
        """Return what was kept; the default when nothing was, or for another embedder or in another way."""
        if not isinstance(value, Mapping):
            return cls()
        if value.get("embedder") != fingerprint or value.get("scale") != _SCALE:
            return cls()
        return cls(float(value["off_topic"]))


_SCALE = "sentences"
"""Names what the mark was measured on, since one of nearest chunks stands elsewhere."""
