"""Learns the weights of server/answering/learned.json from questions with known answers.

    python -m benchmarks.learn_ranking --data DIR FOLDER ... [SITE=FILE.jsonl ...] [--write COMPARISON ...]

A FOLDER holds a website with questions, as in `benchmarks.visitor_sites`, or a test set in BEIR form
(`corpus.jsonl`, `queries.jsonl`, `qrels.tsv`), of which a website is made: one page for each address of its
documents, one section for each document. SITE=FILE are the questions of `benchmarks/questions` about a
site that was crawled into DIR before. Sites that are in DIR already are not crawled again.

Only half of the questions are learned from, with `--whole` and of test sets in BEIR form all. Two linear
models are fitted for each of the comparisons that `server.answering.ranking` names, that by words alone above
all from questions in languages that the embedder does not read:

- section: which of the first results is of the gold section (softmax over the results of a question);
- answer: whether the first result answers (logistic). Near misses are the questions that a site does not
  answer, and every other question with all sections of its gold pages left out; not so for a BEIR set that
  has unanswerable questions of its own, because its passages repeat each other.

Printed for each comparison and site are the figures of a model that was learned without the site: gold
section first and among three, before and after; and for a few floors the share of answerable questions below
it, and of unanswerable ones. With `--write` the weights of the model learned from all sites replace those of
the comparisons named after it, but for those of FEW, which stay as they are. Their bias is such that of the
answerable questions, the share REFUSED is below the usual floor.
"""

from __future__ import annotations

import argparse
import html
import json
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from math import log
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from benchmarks.command_line import argument_parser
from benchmarks.visitor_sites import (
    HALVES,
    crawled_sites,
    folded,
    half_of,
    is_expected,
    read_rows,
    turns_of,
)
from benchmarks.web_server import ROOT
from server.answering.grading import ANSWER, DEFAULT_FLOOR, answer_features
from server.answering.ranking import (
    COMPARISONS,
    LEARNED,
    POOL,
    SECTION,
    Comparer,
    compared_by,
    section_features,
)
from server.domain.chunk import Chunk, ScoredChunk
from server.domain.question import Query, Question
from server.retrieval.rarity import Rarity
from server.runtime.runtime import Runtime

FILE = ROOT / "server/answering/learned.json"
FLOORS = (0.1, 0.13, 0.16, 0.2, 0.25, 0.3)
PENALTY_SECTION, PENALTY_ANSWER = 3.0, 2.0
"""L2 penalties on the weights of standardised features."""
REFUSED = 0.03
FEW = ("lacks_fact", "other_edition")
"""Features that too few questions have, unless they are of many sites: their weights stay."""
READABLE = 0.25
"""What a question that the embedder reads counts for the comparison by words alone, which is made of it only
when the embedder fails."""
LEAST_DEVIATION = 0.2
"""Features of an answer that differ less are penalised as if they did so much: some are of few questions."""
OTHER_LANGUAGE = ("cross_lingual", "crosslingual")
NOT_LEARNED = (*OTHER_LANGUAGE, "injection", "ambiguous")
Row = NDArray[np.float64]


@dataclass
class Example:
    """A question with the features of its first results."""

    site: str
    half: str
    by: str
    """One of COMPARISONS."""
    counts: float
    """Weight in learning."""
    answerable: bool
    sections: Row
    gold: Row
    """For each result: 1 with the evidence, 0.5 of the gold section, 0 else."""
    answers: Row
    """The features of an answer from each result."""
    left_out: tuple[Row, Row] | None
    """Features of sections and answers without the gold pages."""


def gold_of(chunk: Chunk, question: dict[str, Any]) -> float:
    """Return how much the chunk is what answers the question."""
    wanted = question["expected_urls"]
    if not any(is_expected(chunk.url, url) for url in wanted):
        return 0.0
    if folded(question.get("evidence") or "\0") in folded(f"{chunk.heading}\n{chunk.text}"):
        return 1.0
    headings = {folded(heading) for heading in (*chunk.heading_path[-1:], chunk.title)}
    wanted_headings = {
        folded(heading) for heading in question.get("sections", [question.get("section")]) if heading
    }
    return 0.5 if headings & wanted_headings else 0.05


def feature_rows(rarity: Rarity, query: Query, near: Sequence[ScoredChunk]) -> tuple[Row, Row]:
    """Return the features of sections and of answers of hits that were compared with the query."""
    answers = [answer_features(query, [hit, *near], rarity) for hit in near]
    return section_features(query, near, rarity), np.array(answers)


def only(by: str, hits: Sequence[ScoredChunk]) -> list[ScoredChunk]:
    """Return the hits without what this comparison does not know of them."""
    lost = {"sentences": ("tokens",), "words": ("tokens", "sentence", "headline")}.get(by, ())
    return [
        replace(
            hit,
            scores={name: score for name, score in hit.scores.items() if name not in lost},
            sentence="" if by in ("letters", "words") else hit.sentence,
        )
        for hit in hits
    ]


def examples(runtime: Runtime, name: str, questions: Sequence[dict[str, Any]]) -> Iterator[Example]:
    """Search each question and yield its features."""
    site = runtime.stores.sites.get(name)
    pipeline = runtime.engine.pipeline(site)
    steps = pipeline.steps
    comparer = next(step for step in steps.retrieval_steps if isinstance(step, Comparer))
    rarity = Rarity(runtime.engine.parts(name).words)
    for question in questions:
        if question["type"] in NOT_LEARNED or "outcome" in question:
            continue
        asked = Question(question["question"], name, turns_of(question), question["lang"])
        query = pipeline.rewrite(asked)
        found = steps.strategy.retrieve(query, POOL + POOL // 2)
        if not found:
            continue
        near = comparer.compared(query, found[:POOL])
        gold = np.array([gold_of(hit.chunk, question) for hit in near])
        left = [hit for hit in found if not gold_of(hit.chunk, question)] if gold.any() else []
        left = comparer.compared(query, left[:POOL])
        half, answerable = half_of(question["id"]), bool(question["expected_urls"])
        best = compared_by(near)
        for by in COMPARISONS[COMPARISONS.index(best) :]:
            if by == "letters" != best:
                continue  # what the embedder reads says nothing of what it does not read
            sections, answers = feature_rows(rarity, query, only(by, near))
            without = feature_rows(rarity, query, only(by, left)) if left else None
            counts = READABLE if by == "words" and best in ("tokens", "sentences") else 1.0
            yield Example(name, half, by, counts, answerable, sections, gold, answers, without)


def website_of(folder: Path, target: Path) -> Path:
    """Make a website with questions of a test set in BEIR form, and return its folder."""
    pages: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for document in read_rows(folder / "corpus.jsonl"):
        pages[document.get("link") or document["_id"].split("#")[0]].append(document)
    (target / "html").mkdir(parents=True, exist_ok=True)
    place: dict[str, tuple[str, dict[str, Any]]] = {}
    links = []
    for number, (address, documents) in enumerate(sorted(pages.items())):
        title = documents[0]["title"] if len(documents) == 1 else address
        body = "".join(
            f"<h2>{html.escape(one['title'])}</h2>"
            + "".join(f"<p>{html.escape(line)}</p>" for line in one["text"].splitlines() if line.strip())
            for one in documents
        )
        (target / f"html/{number}.html").write_text(_page(title, body))
        links.append(f'<li><a href="{number}.html">{number}</a></li>')
        place |= {one["_id"]: (f"{number}.html", one) for one in documents}
    (target / "html/index.html").write_text(_page(folder.name, f"<ul>{''.join(links)}</ul>"))
    gold = defaultdict(list)
    for line in (folder / "qrels.tsv").read_text().splitlines()[1:]:
        query_id, document_id, _ = line.split("\t")
        if document_id in place:
            gold[query_id].append(place[document_id])
    with (target / "questions.jsonl").open("w") as out:
        for query in read_rows(folder / "queries.jsonl"):
            if query.get("answerability") in ("UNDERSPECIFIED", "PARTIAL"):
                continue
            answers = gold[query["_id"]]
            row = {
                "id": query["_id"],
                "question": query.get("rewrite") or query["text"],
                "lang": "en",
                "type": "lookup" if answers else "unanswerable",
                "history": [] if query.get("rewrite") else _pairs(query.get("history") or []),
                "expected_urls": [page for page, _ in answers],
                "sections": [document["title"] for _, document in answers],
            }
            out.write(json.dumps(row) + "\n")
    return target


def _page(title: str, body: str) -> str:
    title = html.escape(title)
    head = f"<!doctype html><html lang=en><head><title>{title}</title></head>"
    return f"{head}<body><main><h1>{title}</h1>{body}</main></body></html>"


def _pairs(history: Sequence[dict[str, str]]) -> list[dict[str, str]]:
    return [{"role": turn["role"], "content": turn["text"]} for turn in history]


def standardised(rows: Row, least: float = 1e-6) -> tuple[Row, Row, Row]:
    """Return the rows with mean 0 and deviation 1, the means and the deviations, each at least `least`."""
    mean, deviation = rows.mean(0), np.maximum(rows.std(0), least)
    return (rows - mean) / deviation, mean, deviation


def fit_sections(learned: Sequence[Example]) -> Row:
    """Return the weights that make the gold sections likeliest."""
    learned = [one for one in learned if one.gold.size and one.gold.max() >= 0.5]
    rows, _, deviation = standardised(np.concatenate([one.sections for one in learned]))
    starts = np.cumsum([0, *(len(one.sections) for one in learned)])
    counts = np.diff(starts)
    golds = [np.where(one.gold >= 0.5, one.gold, 0) for one in learned]
    target = np.concatenate([gold / gold.sum() for gold in golds])
    sizes = Counter(one.site for one in learned)
    share = np.repeat([one.counts * sizes[one.site] ** -0.5 for one in learned], counts)
    share /= share.mean()

    def loss(weights: Row) -> tuple[float, Row]:
        values = rows @ weights
        values -= np.repeat(np.maximum.reduceat(values, starts[:-1]), counts)
        likely = np.exp(values)
        likely /= np.repeat(np.add.reduceat(likely, starts[:-1]), counts)
        lost = -(share * target * np.log(likely + 1e-12)).sum() + PENALTY_SECTION * weights @ weights
        slope = rows.T @ (share * (likely - target)) + 2 * PENALTY_SECTION * weights
        return float(lost) / len(learned), slope / len(learned)

    return np.asarray(minimize(loss, np.zeros(rows.shape[1]), jac=True).x / deviation)


def fit_answers(learned: Sequence[Example], sections: Row) -> Row:
    """Return the weights of the features of an answer, then the bias."""
    rows, truths, shares = [], [], []
    sizes = Counter((one.site, one.answerable) for one in learned)
    for one in learned:
        size = float(one.counts * sizes[one.site, one.answerable] ** -0.4)
        rows.append(one.answers[int((one.sections @ sections).argmax())])
        truths.append(one.answerable)
        shares.append(size if one.answerable else 2 * size)
        if one.left_out:
            others, answers = one.left_out
            rows.append(answers[int((others @ sections).argmax())])
            truths.append(False)
            shares.append(size / 4)  # other pages may answer too
    values, mean, deviation = standardised(np.array(rows), LEAST_DEVIATION)
    values = np.hstack([values, np.ones((len(values), 1))])
    truth, share = np.array(truths, float), np.array(shares)
    for side in (0.0, 1.0):
        share[truth == side] *= len(truth) / (2 * share[truth == side].sum())

    def loss(weights: Row) -> tuple[float, Row]:
        total = values @ weights
        likely = 1 / (1 + np.exp(-total))
        kept = np.append(weights[:-1], 0)
        lost = (share * (np.logaddexp(0, total) - truth * total)).sum() + PENALTY_ANSWER * kept @ kept
        slope = values.T @ (share * (likely - truth)) + 2 * PENALTY_ANSWER * kept
        return float(lost) / len(truth), slope / len(truth)

    weights = np.asarray(minimize(loss, np.zeros(values.shape[1]), jac=True).x)
    scaled = weights[:-1] / deviation
    return np.append(scaled, weights[-1] - scaled @ mean)


def figures(some: Sequence[Example], value: Callable[[Example], Row]) -> str:
    """Return the shares of the questions whose gold section is first, and among three."""
    known = [one for one in some if one.gold.size and one.gold.max() >= 0.5]
    places = [int((one.gold >= 0.5)[np.argsort(-value(one), kind="stable")].argmax()) for one in known]
    if not places:
        return "    -     -"
    return f"{np.mean([p == 0 for p in places]):5.2f} {np.mean([p < 3 for p in places]):5.2f}"


def report(name: str, some: Sequence[Example], sections: Row, answers: Row) -> None:
    """Print the figures of one site, with models that were learned without it."""
    found = {True: [], False: []}  # type: dict[bool, list[float]]
    for one in some:
        row = one.answers[int((one.sections @ sections).argmax())]
        found[one.answerable].append(float(1 / (1 + np.exp(-(row @ answers[:-1] + answers[-1])))))
    below = "  ".join(
        f"{floor}: {np.mean(np.array(found[True] or [1]) < floor):.2f} "
        f"{np.mean(np.array(found[False] or [np.nan]) < floor):.2f}"
        for floor in FLOORS
    )
    before = figures(some, lambda one: one.sections[:, 0])
    print(f"{name:28} {len(some):4} {before}  {figures(some, lambda one: one.sections @ sections)}  {below}")


@contextmanager
def opened(given: argparse.Namespace) -> Iterator[tuple[Runtime, dict[str, list[dict[str, Any]]], set[str]]]:
    """The data folder once all sites are in it, the questions of each site, and the sites of which all
    questions are learned from."""
    asked: dict[str, Path] = {}
    whole: set[str] = set()
    folders = []
    for source in given.sources:
        name, marked, file = source.partition("=")
        if marked:
            asked[name] = Path(file)
            continue
        folder = Path(source)
        if (folder / "corpus.jsonl").is_file():
            folder = website_of(folder, given.data / "websites" / folder.name.replace("_", "-"))
            whole.add(folder.name)
        asked[folder.name] = folder / "questions.jsonl"
        folders.append(folder)
    with crawled_sites(folders, given.data) as runtime:
        yield runtime, {name: read_rows(file) for name, file in asked.items()}, whole


def main() -> None:
    """Learn, and print or write."""
    parser = argument_parser(__doc__)
    parser.add_argument("sources", nargs="+")
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--whole", action="store_true", help="learn from both halves")
    parser.add_argument("--write", nargs="+", choices=COMPARISONS, default=[], metavar="COMPARISON")
    given = parser.parse_args()
    made: list[Example] = []
    with opened(given) as (runtime, asked, whole):
        for name, questions in asked.items():
            found = list(examples(runtime, name, questions))
            if name in whole and not all(one.answerable for one in found):
                found = [replace(one, left_out=None) for one in found]
            made += found
    if given.whole:
        whole = set(asked)
    compared = {by: [one for one in made if one.by == by] for by in COMPARISONS}
    compared = {by: some for by, some in compared.items() if len({one.answerable for one in some}) == 2}
    if lacking := [by for by in given.write if by not in compared]:
        parser.error(f"no answerable and unanswerable questions are compared by {', '.join(lacking)}")
    weights = {by: learned_by(by, some, whole) for by, some in compared.items()}
    if given.write:
        FILE.write_text(json.dumps(LEARNED | {by: weights[by] for by in given.write}, indent=1) + "\n")
    print(json.dumps(weights, indent=1))


def learned_by(by: str, made: Sequence[Example], whole: set[str]) -> dict[str, dict[str, float]]:
    """Print the figures of one comparison, and return its weights."""
    learned = [one for one in made if one.half == HALVES[0] or one.site in whole]
    print(f"{by:28} {'n':>4} {'search':>11}  {'learned':>11}  floor: share of answerable, unanswerable below")
    for name in dict.fromkeys(one.site for one in made):
        others = [one for one in learned if one.site != name]
        if len({one.answerable for one in others}) < 2:
            print(f"{name}: too few other sites to learn from")
            continue
        sections = fit_sections(others)
        answers = fit_answers(others, sections)
        for half in HALVES:
            some = [one for one in made if one.site == name and one.half == half]
            report(f"{name}, {half}", some, sections, answers)
    sections = fit_sections(learned)
    answers = fit_answers(learned, sections)
    for name in FEW:
        answers[ANSWER.index(name)] = LEARNED[by]["answer"][name]
    answers[-1] += log(DEFAULT_FLOOR / (1 - DEFAULT_FLOOR)) - _least_sure(learned, sections, answers)
    return {
        "section": dict(zip(SECTION, sections.round(3).tolist(), strict=True)),
        "answer": dict(zip(("bias", *ANSWER), np.roll(answers, 1).round(3).tolist(), strict=True)),
    }


def _least_sure(learned: Sequence[Example], sections: Row, answers: Row) -> float:
    """Return the log odds below which are REFUSED of the answerable questions of this comparison."""
    answerable = [one for one in learned if one.answerable]
    own = [one for one in answerable if one.counts == 1] or answerable
    rows = (one.answers[int((one.sections @ sections).argmax())] for one in own)
    return float(np.quantile([row @ answers[:-1] + answers[-1] for row in rows], REFUSED))


if __name__ == "__main__":
    main()
