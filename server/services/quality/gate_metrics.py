"""The figures by which the gate measures a new index."""

from __future__ import annotations

GATE_METRICS = {
    "ndcg@10": "ndcg@10: order of the right pages among ten",
    "recall@5": "recall@5: right pages among five",
    "mrr@10": "mrr@10: place of the first right page",
    "hit@5": "hit@5: a right page among five",
    "citation_correct": "citation_correct: answers cite a right page",
    "refused_answerable": "refused_answerable: refused though the site has the answer (less is better)",
    "refused_unanswerable": "refused_unanswerable: rightly refused",
}
_RANKED = ("ndcg@10", "recall@5", "mrr@10", "hit@5")


def needs_answers(metric: str) -> bool:
    """Whether answers are written to measure by it; otherwise pages are ranked alone."""
    return metric not in _RANKED
