"""Finds a site's marks on the cosine scale, from its own headings against off-topic questions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from statistics import median

from server.domain.calibration import Calibration
from server.domain.chunk import Chunk
from server.domain.protocols import Embedder, VectorIndex

HEADINGS = 48
"""Headings that are asked, spread evenly over the site."""

OFF_TOPIC = (
    "What will the weather be like on Sunday?",
    "Who won the football match last night?",
    "How do I cook rice without burning it?",
    "Tell me a joke about cats.",
    "How tall is the highest mountain on the moon?",
    "What should I name my new puppy?",
    "Can you recommend a good crime novel?",
    "How many calories are in a banana?",
    "What time does the train to the coast leave?",
    "How do I get a red wine stain out of a shirt?",
    "Which song was number one when I was born?",
    "Is it safe to swim after eating?",
    "How do I tie a bow tie?",
    "What is the exchange rate of the yen today?",
    "Why do leaves change colour in autumn?",
    "How long do turtles live?",
    "What is a good workout for the lower back?",
    "Who painted the ceiling of that famous chapel?",
    "When is the next solar eclipse?",
    "How do I say good night in Italian?",
)


def calibrate(embedder: Embedder, vectors: VectorIndex, chunks: Iterable[Chunk]) -> Calibration:
    """The site's calibration; the default for a site with too few headings to tell. Raises ModelError."""
    headings = list(dict.fromkeys(chunk.heading_path[-1] for chunk in chunks if chunk.heading_path))
    step = max(1, len(headings) // HEADINGS)
    asked = headings[::step][:HEADINGS]
    if len(asked) < 5:
        return Calibration()
    return Calibration(_nearest(embedder, vectors, OFF_TOPIC), _nearest(embedder, vectors, asked))


def _nearest(embedder: Embedder, vectors: VectorIndex, questions: Sequence[str]) -> float:
    found = (vectors.search(vector, 1) for vector in embedder.embed(questions))
    return round(median(hits[0][1] if hits else 0.0 for hits in found), 4)
