"""Brings questions that were not answered into gaps, batch by batch."""

from collections import defaultdict
from collections.abc import Callable, Sequence
from uuid import uuid4

import numpy as np

from server.answering.understanding.reference import Leaning, leaning
from server.domain.protocols import Embedder, reads
from server.gaps.clusters import Cluster, Clusters, Weights, embedded
from server.gaps.intake import Badly, GapIntake, Member, packed

BATCH = 128
EMBEDDED = 64
"""Texts in one call: the query embedder remembers those of no larger ones."""


class Growth:
    """One look at what visitors asked since the last one. Make a new one for each look."""

    def __init__(
        self,
        intake: GapIntake,
        embedder: Embedder,
        weights_of: Callable[[str], Weights],
        threshold: float,
    ) -> None:
        """`weights_of` a site tells how much words say there."""
        self._intake = intake
        self._embedder = embedder
        self._weights_of = weights_of
        self._threshold = threshold
        self._sites: dict[str, Clusters] = {}
        intake.use_embedder(embedder.fingerprint)

    def step(self, limit: int = BATCH) -> tuple[int, bool]:
        """Takes in about `limit` questions; (how many, whether more wait)."""
        batch = self._intake.waiting(limit)
        by_site: dict[str, list[Badly]] = defaultdict(list)
        for badly in batch.badly:
            by_site[badly.site_id].append(badly)
        for site_id, badly_of_site in by_site.items():
            self._take_in(site_id, badly_of_site)
        self._intake.done(batch)
        return len(batch.badly), batch.more

    def _take_in(self, site_id: str, badly: Sequence[Badly]) -> None:
        clusters = self._of(site_id)
        texts = [standing_alone(one) for one in badly]
        asked_in = [(text, one.language) for text, one in zip(texts, badly, strict=True)]
        parts = (asked_in[start : start + EMBEDDED] for start in range(0, len(asked_in), EMBEDDED))
        questions = [question for part in parts for question in embedded(self._embedder, part)]
        clusters.weigh(token for question in questions for token in question.tokens)
        joined: dict[str, list[Member]] = defaultdict(list)
        for one, question in zip(badly, questions, strict=True):
            cluster = clusters.nearest(question) or Cluster(uuid4().hex, question)
            cluster.add(question)
            clusters.put(cluster)
            joined[cluster.id].append(Member(one, question.text, packed(question.vector, np.float16)))
        self._intake.store(site_id, [(clusters.get(id), members) for id, members in joined.items()])
        for kept, given_up in clusters.mergers(list(joined)):
            self._merge(clusters, kept, given_up)

    def _merge(self, clusters: Clusters, kept: str, given_up: str) -> None:
        into, other = clusters.get(kept), clusters.get(given_up)
        clusters.drop(given_up)
        into.take(other)
        clusters.put(into)
        self._intake.merge(kept, given_up)
        self._intake.put_totals(into)

    def _of(self, site_id: str) -> Clusters:
        if site_id not in self._sites:
            known = map(self._restored, self._intake.groups(site_id))
            self._sites[site_id] = Clusters(self._weights_of(site_id), known, self._threshold)
        return self._sites[site_id]

    def _restored(self, cluster: Cluster) -> Cluster:
        """With vectors, where another embedder made them, or some questions are gone."""
        if cluster.total is not None:
            return cluster
        samples, reads_it = cluster.samples, reads(self._embedder, cluster.question.language)
        if reads_it and any(sample.vector is None for sample in samples):
            texts = [(sample.text, sample.language) for sample in samples]
            cluster.samples = embedded(self._embedder, texts)
        for sample in cluster.samples:
            cluster.weigh(sample)
        return cluster


def standing_alone(badly: Badly) -> str:
    """The question, or how it was searched where it leans on what was said before."""
    if badly.is_first or not badly.query or leaning(badly.question, badly.language) is Leaning.NOT:
        return badly.question
    return badly.query
