"""What visitors read: answers to questions with known facts, scored without a model.

    python -m benchmarks.visitor_answers --data DIR FOLDER ... [SITE=QUESTIONS.jsonl ...] [--half tuned|aside]
        [--show all|wrong] [--baseline http://127.0.0.1:PORT]

The sources are those of `benchmarks.learn_ranking`. Each question is asked as a visitor asks it. Printed for
each site, kind of question and half:

- fact: the share of answers with citations that match every `must` and no `must_not` of the question;
- page: an expected page is cited; wrong: only other pages are;
- refused: the share of answerable questions without an answer;
- length: the median of the answers' characters; seen: the same without the addresses of links, which a
  visitor does not see;
- none: the share of questions that the site does not answer and that get none, and of messages that are no
  questions and get the `outcome` that they name;
- verbatim: the share of citations whose quote is on the cited page, word for word.

With `--baseline` the same questions are put to a running Docent too, such as an earlier version, and each
line of the table is followed by its figures. It needs the sites under the same ids, and high VISITOR_LIMIT,
ADDRESS_LIMIT and TOKEN_LIMIT. Its quotes are not checked, because its pages are not known here.
"""

from __future__ import annotations

import json
import re
import urllib.request
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import mean, median
from typing import Any

from benchmarks.command_line import argument_parser
from benchmarks.learn_ranking import OTHER_LANGUAGE, opened
from benchmarks.visitor_sites import HALVES, half_of, is_expected, turns_of
from server.domain.answer import Answer, Citation, Outcome
from server.domain.chunk import PageWords
from server.domain.question import Question
from server.evaluation.judges.embedded import plain
from server.runtime.runtime import Runtime


@dataclass(frozen=True)
class Read:
    """One question with what its reader gets."""

    question: dict[str, Any]
    site: str
    half: str
    answer: Answer
    answerable: bool
    fact: bool | None
    """None for a question without a check."""
    page: bool
    verbatim: tuple[bool, ...]

    @property
    def kept_out(self) -> bool:
        """Return whether what the pages do not answer was not answered from them."""
        wanted = self.question.get("outcome")
        if wanted == Outcome.HANDOFF:  # may cite the contact page
            return self.answer.outcome is Outcome.HANDOFF
        return not self.answer.citations and wanted in (None, self.answer.outcome)


def reads(runtime: Runtime, name: str, questions: Sequence[dict[str, Any]]) -> Iterator[Read]:
    """Ask each question and yield what its reader gets."""
    pipeline = runtime.engine.pipeline(runtime.stores.sites.get(name))
    words: dict[str, PageWords] = {}
    for question in questions:
        asked = Question(question["question"], name, turns_of(question), question["lang"])
        *_, answer = pipeline.answer(asked)
        assert isinstance(answer, Answer)
        for cited in answer.citations:
            if cited.url not in words:
                words[cited.url] = PageWords(pipeline.steps.page_text(cited.url))
        verbatim = tuple(words[cited.url].hold(cited.quote) for cited in answer.citations)
        yield read(question, name, answer, verbatim)


def reads_of_server(address: str, name: str, questions: Sequence[dict[str, Any]]) -> Iterator[Read]:
    """Ask a running server each question, after its earlier ones, and yield what its reader gets."""
    for question in questions:
        token = _posted(address, "visitors", {"site": name})["token"]
        conversation: dict[str, str] = {}
        for text in (*(turn.question for turn in turns_of(question)), question["question"]):
            reply = _posted(address, "chat", {"message": text, **conversation}, token)
            conversation = {"conversation_id": reply["conversation_id"]}
        cited = tuple(
            Citation(number, one["url"], "", one["quote"], "")
            for number, one in enumerate(reply["citations"], 1)
        )
        yield read(question, name, Answer(Outcome(reply["outcome"]), reply["answer"], citations=cited))


def _posted(address: str, path: str, body: dict[str, str], token: str = "") -> dict[str, Any]:
    headers = {"Content-Type": "application/json", **({"Authorization": f"Bearer {token}"} if token else {})}
    request = urllib.request.Request(f"{address}/api/v1/{path}", json.dumps(body).encode(), headers)
    with urllib.request.urlopen(request, timeout=60) as response:
        found: dict[str, Any] = json.load(response)
    return found


def read(question: dict[str, Any], site: str, answer: Answer, verbatim: tuple[bool, ...] = ()) -> Read:
    """Return one answer with how it reads."""
    said = answer.text
    holds = all(re.search(must, said, re.I) for must in question.get("must") or ())
    holds &= not any(re.search(no, said, re.I) for no in question.get("must_not") or ())
    wanted = question["expected_urls"]
    return Read(
        question,
        site,
        half_of(question["id"]),
        answer,
        bool(wanted),
        bool(answer.citations) and holds if question.get("must") else None,
        any(is_expected(cited.url, url) for cited in answer.citations for url in wanted),
        verbatim,
    )


def line(name: str, some: Sequence[Read]) -> str:
    """Return a line of the table."""
    known = [one for one in some if one.answerable]
    none = [one for one in some if not one.answerable]
    given = [one for one in known if one.answer.citations]
    quotes = [held for one in some for held in one.verbatim]

    def share(values: Sequence[bool]) -> str:
        return f"{mean(values):8.2f}" if values else f"{'-':>8}"

    columns = [
        share([one.fact for one in known if one.fact is not None]),
        share([one.page for one in known]),
        share([bool(one.answer.citations) and not one.page for one in known]),
        share([not one.answer.citations for one in known]),
        f"{median(len(one.answer.text) for one in given) if given else 0:8.0f}",
        f"{median(len(plain(one.answer.text)) for one in given) if given else 0:8.0f}",
        share([one.kept_out for one in none]),
        share(quotes),
    ]
    return f"{name:36} {len(known):4} {len(none):4} {' '.join(columns)}"


def table(some: Sequence[Read], baseline: Sequence[Read] = ()) -> Iterator[str]:
    """Yield the lines of the table, each followed by that of the baseline if there is one."""
    names = ["fact", "page", "wrong", "refused", "length", "seen", "none", "verbatim"]
    yield f"{'':36} {'n':>4} {'none':>4} {' '.join(f'{name:>8}' for name in names)}"
    groups, others = grouped(some), grouped(baseline)
    for name in sorted(groups):
        yield line(name, groups[name])
        if name in others:
            yield line("    baseline", others[name])


def grouped(some: Sequence[Read]) -> dict[str, list[Read]]:
    """Return the answers by site, kind of question and half."""
    groups: dict[str, list[Read]] = defaultdict(list)
    for one in some:
        kind = one.question["type"]
        groups[f"site {one.site}, {one.half}"].append(one)
        groups[f"type {kind}, {one.half}"].append(one)
        if kind not in OTHER_LANGUAGE:
            groups[f"all, same language, {one.half}"].append(one)
    return groups


def main() -> None:
    """Print the table, and the answers if wanted."""
    parser = argument_parser(__doc__)
    parser.add_argument("sources", nargs="+")
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--half", choices=HALVES)
    parser.add_argument("--show", choices=("all", "wrong"))
    parser.add_argument("--baseline", default="", help="address of a running Docent to ask as well")
    given = parser.parse_args()
    found: list[Read] = []
    baseline: list[Read] = []
    with opened(given) as (runtime, asked, _):
        for name, questions in asked.items():
            wanted = [one for one in questions if given.half in (None, half_of(one["id"]))]
            found += reads(runtime, name, wanted)
            if given.baseline:
                baseline += reads_of_server(given.baseline.rstrip("/"), name, wanted)
    for one in found if given.show else ():
        right = one.kept_out if not one.answerable else one.page if one.fact is None else one.fact
        if given.show == "all" or not right:
            print(f"{'=' * 80}\n{one.site}: {one.question['question']}\n({one.question['answer']})\n")
            print(f"{one.answer.text}\n")
    print("\n".join(table(found, baseline)))


if __name__ == "__main__":
    main()
