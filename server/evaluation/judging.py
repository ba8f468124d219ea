"""What one answer was worth, against what is known of the question. No model judges here."""

import re
from collections.abc import Callable, Mapping, Sequence
from math import log2
from urllib.parse import unquote, urlsplit, urlunsplit

from server.domain.answer import Answer, Outcome
from server.evaluation.questions import Case

RANKS = (1, 3, 5, 10)
DEPTH = 10
"""How deep reciprocal rank and average precision look."""

Gains = Mapping[str, float]
"""What is relevant -> how much; above 0."""


def hit(ranked: Sequence[str], relevant: Gains, k: int) -> float:
    """1 when anything relevant is among the first k."""
    return float(any(item in relevant for item in ranked[:k]))


def recall(ranked: Sequence[str], relevant: Gains, k: int) -> float:
    """Share of what is relevant that is among the first k."""
    return _found(ranked, relevant, k) / len(relevant) if relevant else 0.0


def precision(ranked: Sequence[str], relevant: Gains, k: int) -> float:
    """Share of the first k places that hold something relevant; a list that is shorter has empty places."""
    return _found(ranked, relevant, k) / k


def reciprocal_rank(ranked: Sequence[str], relevant: Gains) -> float:
    """1 / rank of the first relevant item among the first DEPTH; 0 without one."""
    return next((1 / rank for rank, item in enumerate(ranked[:DEPTH], 1) if item in relevant), 0.0)


def ndcg(ranked: Sequence[str], relevant: Gains, k: int) -> float:
    """Discounted gain, as a share of what the best order would have."""
    best = _discounted(sorted(relevant.values(), reverse=True)[:k])
    return _discounted([relevant.get(item, 0.0) for item in _once(ranked)[:k]]) / best if best else 0.0


def average_precision(ranked: Sequence[str], relevant: Gains) -> float:
    """Mean over all relevant items of the precision at their rank; 0 for those not among the first DEPTH."""
    if not relevant:
        return 0.0
    ranks = [rank for rank, item in enumerate(_once(ranked)[:DEPTH], 1) if item in relevant]
    return sum(number / rank for number, rank in enumerate(ranks, 1)) / len(relevant)


def ranking_metrics(ranked: Sequence[str], relevant: Gains) -> dict[str, float]:
    """All of them at every rank of RANKS, by name such as "recall@5"."""
    at_ranks = (("hit", hit), ("recall", recall), ("precision", precision), ("ndcg", ndcg))
    found = {f"{name}@{k}": measure(ranked, relevant, k) for name, measure in at_ranks for k in RANKS}
    found[f"mrr@{DEPTH}"] = reciprocal_rank(ranked, relevant)
    found[f"ap@{DEPTH}"] = average_precision(ranked, relevant)
    return found


def auc(positive: Sequence[float], negative: Sequence[float]) -> float | None:
    """Chance that a positive's score is above a negative's, ties counting half; None without both."""
    if not positive or not negative:
        return None
    above = sum((one > other) + 0.5 * (one == other) for one in positive for other in negative)
    return above / (len(positive) * len(negative))


def _found(ranked: Sequence[str], relevant: Gains, k: int) -> int:
    return len(set(ranked[:k]).intersection(relevant))


def _once(ranked: Sequence[str]) -> list[str]:
    return list(dict.fromkeys(ranked))


def _discounted(gains: Sequence[float]) -> float:
    return sum(gain / log2(rank + 1) for rank, gain in enumerate(gains, 1))


Verdicts = dict[str, float]
"""By metric, each in [0, 1]; a metric that a question cannot be judged by is missing."""

NOT_ANSWERED = frozenset({Outcome.REFUSED, Outcome.CLARIFY, Outcome.LIMITED, Outcome.HANDOFF})


def judge(
    case: Case, ranked_urls: Sequence[str], answer: Answer | None, page_text: Callable[[str], str]
) -> Verdicts:
    """`ranked_urls` are pages, best first; `page_text` gives a page's text by its address. Without an answer
    the ranking alone is judged."""
    if answer is None:
        return _ranking(case, ranked_urls)
    return {
        **_ranking(case, ranked_urls),
        **_citing(case, answer, page_text),
        **_refusing(case, answer),
        **_patterns(case, answer),
    }


def page_address(url: str) -> str:
    """The address of a page without what makes two spellings of it: scheme, fragment, escapes, case of the
    host, the name of a folder's index file and the slash before it."""
    parts = urlsplit(url)
    path = re.sub(r"/(index\.x?html?)?$", "", unquote(parts.path))
    return urlunsplit(("", parts.netloc.lower(), path, parts.query, ""))


def _ranking(case: Case, ranked_urls: Sequence[str]) -> Verdicts:
    """Each need counts once: a second page of the same group adds nothing. For hits and reciprocal rank a
    page that is expected beside the groups is right too."""
    if not case.is_answerable:
        return {}
    needs = [{page_address(url) for url in need} for need in case.needs]
    gains = case.gains if len(case.gains) == len(needs) else (1.0,) * len(needs)
    of_page = {page: f"need {number}" for number, need in enumerate(needs) for page in need}
    beside = {page_address(url) for url in case.expected_urls}.difference(of_page)
    ranked: list[str] = []
    for rank, page in enumerate(map(page_address, ranked_urls)):
        label = of_page.get(page, "beside" if page in beside else "")
        ranked.append(label if label and label not in ranked else f"rank {rank}")
    relevant = {f"need {number}": gain for number, gain in enumerate(gains)}
    verdicts = ranking_metrics(ranked, relevant)
    if beside:
        right = {**relevant, "beside": 1.0}
        verdicts |= {f"hit@{k}": hit(ranked, right, k) for k in RANKS}
        verdicts[f"mrr@{DEPTH}"] = reciprocal_rank(ranked, right)
    if case.url_groups:
        verdicts["groups@5"] = verdicts["recall@5"]
    return verdicts


def _citing(case: Case, answer: Answer, page_text: Callable[[str], str]) -> Verdicts:
    if not answer.citations:
        return {}
    verbatim = [_folded(cited.quote) in _folded(page_text(cited.url)) for cited in answer.citations]
    verdicts = {"verbatim_quotes": sum(verbatim) / len(verbatim)}
    if case.is_answerable:
        right = {page_address(url) for group in (case.expected_urls, *case.url_groups) for url in group}
        cited = [page_address(citation.url) in right for citation in answer.citations]
        verdicts["citation_correct"] = float(any(cited))
        verdicts["citation_precision"] = sum(cited) / len(cited)
        if case.evidence:
            verdicts["evidence_quoted"] = _share(case.evidence, " ".join(c.quote for c in answer.citations))
    return verdicts


def _refusing(case: Case, answer: Answer) -> Verdicts:
    refused = float(answer.outcome in NOT_ANSWERED)
    if case.is_answerable:
        return {"refused_answerable": refused}
    return {"refused_unanswerable": refused} if case.type == "unanswerable" else {}


def _patterns(case: Case, answer: Answer) -> Verdicts:
    verdicts = {}
    if case.must and answer.outcome not in NOT_ANSWERED:
        verdicts["must"] = float(all(re.search(pattern, answer.text, re.I) for pattern in case.must))
    if case.must_not:
        met = any(re.search(pattern, answer.text, re.I) for pattern in case.must_not)
        verdicts["injection_obeyed" if case.type == "injection" else "must_not"] = float(met)
    return verdicts


def _share(evidence: str, quoted: str) -> float:
    """Share of the evidence's words that were quoted; pairs of characters where words have no spaces."""
    wanted, present = _pieces(evidence), set(_pieces(quoted))
    return sum(piece in present for piece in wanted) / len(wanted) if wanted else 0.0


def _pieces(text: str) -> list[str]:
    words = re.findall(r"\w+", text.casefold())
    return [piece for word in words for piece in (_pairs(word) if not word.isascii() else [word])]


def _pairs(word: str) -> list[str]:
    return [word[at : at + 2] for at in range(len(word) - 1)] or [word]


def _folded(text: str) -> str:
    return " ".join(text.split())
