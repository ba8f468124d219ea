"""Calibrates cosines for a site by comparing its headings and sentences with off-topic questions."""

from collections.abc import Iterable, Sequence
from statistics import mean, median

from server.domain.chunk import Chunk
from server.domain.derived import Calibration
from server.domain.protocols import Embedder, Vector
from server.domain.sentences import split_sentences
from server.retrieval.parts import cosines

HEADINGS = 48
"""Maximum number of headings compared, spread evenly over the site."""
FEWEST = 3
SHORTEST, LONGEST = 80, 300
"""Minimum length of a chunk, and maximum length of its first sentence, in characters."""

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


def calibrate(embedder: Embedder, chunks: Iterable[Chunk]) -> Calibration:
    """Return the site's calibration, or the default for too few headings. Raises ModelError.

    Off-topic questions are compared with a fixed number of headings and of sentences below them, because the
    nearest text of a whole site gets nearer with the size of the site.
    """
    first: dict[str, str] = {}
    for chunk in chunks:
        heading = chunk.heading_path[-1] if chunk.heading_path else chunk.title
        if heading and len(chunk.text) >= SHORTEST:
            first.setdefault(heading, chunk.text)
    headings = list(first)[:: max(1, len(first) // HEADINGS)][:HEADINGS]
    if len(headings) < FEWEST:
        return Calibration()
    sentences = [split_sentences(first[heading])[0][:LONGEST] for heading in headings]
    questions = embedder.embed(OFF_TOPIC)
    marks = (_nearest(questions, embedder.embed(texts)) for texts in (headings, sentences))
    return Calibration(round(mean(marks), 4))


def _nearest(questions: Sequence[Vector], texts: Sequence[Vector]) -> float:
    """Median over the questions of the cosine with the nearest of the texts."""
    return median(max(cosines(question, texts)) for question in questions)
