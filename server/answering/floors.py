"""Chooses the relevance floor of a site, also from questions that were made of its own pages."""

import json
import math
import zlib
from collections.abc import Mapping
from dataclasses import dataclass

from server.answering.grading import DEFAULT_FLOOR
from server.answering.ranking import LEARNED
from server.domain.site import Site
from server.settings import Settings

FLOOR, CHECK = "relevance_floor", "floor_check"
"""Keys of `Site.options`: the operator's number or one of CHOICES, and the answerability of questions that
were made of the site's pages."""
ANSWER_MORE, REFUSE_MORE = "answer_more", "refuse_more"
CHOICES = (ANSWER_MORE, REFUSE_MORE)
WRONG = 0.05
"""Largest share of questions that a choice refuses, or answers, wrongly."""
FEWEST = 15
"""A choice needs at least this many questions of each kind."""
LOWEST, LENIENT, HIGHEST = 0.05, 0.2, 0.6
"""Limits of the floors that are chosen. Visitors use other words than the pages do, so ANSWER_MORE never goes
above LENIENT, below which fall about 5 of 100 answerable questions of the visitors of four organisations."""
_Z = 1.645
"""Standard deviations on both sides of the mean that hold 90 % of a normal distribution."""
_SCALE = f"{zlib.crc32(json.dumps(LEARNED, sort_keys=True).encode()):08x}"
"""Names the learned weights: answerability by other weights cannot be compared."""


@dataclass(frozen=True, slots=True)
class Share:
    """How many of some questions something happened to."""

    count: int
    total: int
    """Greater than 0."""

    @property
    def value(self) -> float:
        """In [0, 1]."""
        return self.count / self.total

    @property
    def interval(self) -> tuple[float, float]:
        """Wilson's score interval: the bounds of the true share with 90 % confidence."""
        share, square = self.value, _Z * _Z / self.total
        middle = share + square / 2
        half = math.sqrt(square * (share * (1 - share) + square / 4))
        low, high = ((middle + sign * half) / (1 + square) for sign in (-1, 1))
        return max(0.0, low), min(1.0, high)


@dataclass(frozen=True, slots=True)
class FloorCheck:
    """Answerability of questions made of a site's pages, sorted."""

    answerable: tuple[float, ...] = ()
    unanswerable: tuple[float, ...] = ()
    """Of questions whose page was left out of the search."""
    day: str = ""
    """Day on which they were asked, such as "2026-05-31"; empty when none were."""
    generation: int = 0
    """Index generation that was asked."""

    @property
    def is_enough(self) -> bool:
        """Return whether there are enough questions for a choice."""
        return min(len(self.answerable), len(self.unanswerable)) >= FEWEST

    def floor(self, choice: str, usual: float) -> float:
        """Return the floor of one of CHOICES, on the right side of the `usual` one; without enough questions
        the usual one."""
        if not self.is_enough:
            return usual
        if choice == ANSWER_MORE:
            allowed = self.answerable[int(WRONG * len(self.answerable))]
            return min(usual, max(LOWEST, min(LENIENT, allowed)))
        highest_refused = self.unanswerable[-1 - int(WRONG * len(self.unanswerable))]
        return max(usual, min(HIGHEST, round(highest_refused + 0.001, 3)))

    def refused(self, floor: float) -> Share:
        """Return how many answerable questions this floor refuses."""
        return Share(sum(value < floor for value in self.answerable), len(self.answerable))

    def answered(self, floor: float) -> Share:
        """Return how many unanswerable questions this floor answers."""
        return Share(sum(value >= floor for value in self.unanswerable), len(self.unanswerable))

    def to_json(self, fingerprint: str) -> dict[str, object]:
        """Return it as it is kept with a site; `fingerprint` names the embedder."""
        return {
            "answerable": list(self.answerable),
            "unanswerable": list(self.unanswerable),
            "day": self.day,
            "generation": self.generation,
            "made_with": [fingerprint, _SCALE],
        }

    @classmethod
    def from_json(cls, value: object, fingerprint: str) -> "FloorCheck":
        """Return what was kept; an empty check when nothing was, or for another embedder or other weights."""
        if not isinstance(value, Mapping) or value.get("made_with") != [fingerprint, _SCALE]:
            return cls()
        return cls(
            tuple(value["answerable"]), tuple(value["unanswerable"]), value["day"], value["generation"]
        )


def usual_floor(settings: Settings) -> float:
    """Return the installation's floor."""
    return settings.retrieval.relevance_floor if settings.retrieval.relevance_floor >= 0 else DEFAULT_FLOOR


def site_floor(site: Site, settings: Settings, fingerprint: str) -> float:
    """Return the site's floor: the operator's number or choice, else the installation's. `fingerprint` names
    the embedder."""
    own = site.options.get(FLOOR)
    if isinstance(own, int | float):
        return float(own)
    usual = usual_floor(settings)
    if own not in CHOICES:
        return usual
    return FloorCheck.from_json(site.options.get(CHECK), fingerprint).floor(str(own), usual)
