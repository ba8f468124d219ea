"""Where "near" begins for one embedder on one site: cosines differ from embedder to embedder."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


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
        """What was kept; the default when nothing was, or for another embedder or in another way."""
        if not isinstance(value, Mapping):
            return cls()
        if value.get("embedder") != fingerprint or value.get("scale") != _SCALE:
            return cls()
        return cls(float(value["off_topic"]))


_SCALE = "sentences"
"""Names what the mark was measured on, since one of nearest chunks stands elsewhere."""
