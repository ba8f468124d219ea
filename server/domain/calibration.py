"""How near is near: what cosines mean differs from embedder to embedder and from site to site."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Calibration:
    """Two marks on the scale of cosines between a question and its nearest chunk."""

    off_topic: float = 0.22
    """Median for questions that no site of this kind answers; the default is the embedded model's."""
    on_topic: float = 0.70
    """Median for the site's own headings."""

    def nearness(self, cosine: float) -> float:
        """0 as far as an off-topic question, 1 as near as a heading of the site; within [-0.5, 1.5]."""
        width = max(self.on_topic - self.off_topic, 0.05)
        return min(1.5, max(-0.5, (cosine - self.off_topic) / width))

    def to_json(self, fingerprint: str) -> dict[str, object]:
        """As it is kept with a site; `fingerprint` names the embedder that it was measured with."""
        return {"off_topic": self.off_topic, "on_topic": self.on_topic, "embedder": fingerprint}

    @classmethod
    def from_json(cls, value: object, fingerprint: str) -> Calibration:
        """What was kept; the default when nothing was, or for another embedder."""
        if not isinstance(value, Mapping) or value.get("embedder") != fingerprint:
            return cls()
        return cls(float(value["off_topic"]), float(value["on_topic"]))
