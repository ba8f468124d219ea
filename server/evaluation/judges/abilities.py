"""The four abilities of RGB (Chen et al., 2024), tried on a site's own questions and passages.

The writer is given passages in place of what the search finds: right ones with noise between them, noise
alone, right ones of several pages, and a right one beside a copy in which the fact was changed.
"""

import hashlib
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from server.domain.chunk import Chunk, ScoredChunk
from server.evaluation.judges.embedded import BARE, SHORT
from server.evaluation.judging import page_address
from server.evaluation.questions import Case
from server.retrieval.parts import in_turn

_NUMBER = re.compile(r"(?<![\w.,])\d+(?:[.,]\d+)*(?![\w])")
_COUNT_WORDS = (
    "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "twelve", "fourteen", "fifteen",
    "twenty", "thirty", "forty", "sixty", "ninety", "hundred",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class ChangedFact:
    """One fact of a passage and what stands in its place."""

    text: str
    """The whole passage with the other fact."""
    true: str
    false: str


def changed_fact(passage: str, reference: str, others: Sequence[str]) -> ChangedFact | None:
    """The passage with the first fact changed that it shares with `reference`: a short answer becomes one of
    `others` (answers to other questions), a number another number. None where no such fact is found."""
    if 0 < len(reference.split()) <= SHORT and not _NUMBER.search(reference):
        found = re.search(rf"(?<!\w){re.escape(reference.strip(' .'))}(?!\w)", passage, re.I)
        known = passage.casefold()
        other = next((text for text in others if text.casefold() not in known and text != reference), "")
        if found and other:
            return _changed(passage, found.group(), other)
    for number in _NUMBER.findall(reference):
        if re.search(rf"(?<![\w.,]){re.escape(number)}(?!\w)", passage):
            # Of the same form; another one in every digit.
            other = re.sub(r"\d", lambda digit: str((int(digit.group()) + 2) % 9 + 1), number)
            return _changed(passage, number, other)
    words = {word.casefold() for word in re.findall(r"[A-Za-z]+", reference)}
    for place, word in enumerate(_COUNT_WORDS):
        found = re.search(rf"(?<!\w){word}(?!\w)", passage, re.I)
        if word in words and found:
            return _changed(passage, found.group(), _COUNT_WORDS[(place + 5) % len(_COUNT_WORDS)])
    return None


def states(text: str, fact: str) -> bool:
    """Return whether a text names the fact, as words of its own."""
    return bool(re.search(rf"(?<![\w.,]){re.escape(fact)}(?!\w)", text, re.I))


def _changed(passage: str, true: str, false: str) -> ChangedFact | None:
    text = re.sub(rf"(?<![\w.,]){re.escape(true)}(?!\w)", lambda _: false, passage, flags=re.I)
    return ChangedFact(text, true, false) if text != passage else None


PASSAGES = 5
NOISE = (0.0, 0.2, 0.4, 0.6, 0.8)
NOISE_OF_SEVERAL = (0.0, 0.2, 0.4)
COPY = "edition=other"
"""What the address of a changed copy has behind it."""
NOISE_ROBUSTNESS, REJECTION, INTEGRATION, COUNTERFACTUAL = (
    "noise robustness", "negative rejection", "information integration", "counterfactual robustness",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Trial:
    """One question with the passages that are given for it."""

    case: Case
    ability: str
    noise: float
    """Share of noise among the passages."""
    passages: tuple[ScoredChunk, ...]
    fact: ChangedFact | None = None


@dataclass(frozen=True, slots=True)
class TrialResult:
    """What came of a trial; JSON values only."""

    id: str
    ability: str
    noise: float
    refused: bool
    right: bool | None = None
    """None where there is nothing right to say, or where the judge's reply could not be read."""
    misled: bool | None = None
    """Whether the changed fact was told; only of counterfactual trials."""
    unread: bool = False


def reference_of(case: Case) -> str:
    """What a right answer says; empty where only pages are known."""
    return case.answer or case.evidence


def can_be_tried(case: Case) -> bool:
    """Return whether it is known what a right answer says: a bare yes or no cannot be looked for."""
    reference = reference_of(case)
    known = bool(case.must) or bool(reference and not BARE.fullmatch(reference))
    return case.is_answerable and not case.left_out and known


def sample(cases: Sequence[Case], count: int) -> list[Case]:
    """At most `count` of those that can be tried: always the same ones of the same file."""
    fit = [case for case in cases if can_be_tried(case)]
    chosen = sorted(fit, key=lambda case: hashlib.sha256(case.id.encode("utf-8", "replace")).digest())[:count]
    return [case for case in fit if case in chosen]


def trials(
    case: Case, hits: Sequence[ScoredChunk], address: Callable[[str], str], others: Sequence[str]
) -> list[Trial]:
    """Every trial that the found chunks allow; `address` gives that of a page as a visitor opens it, `others`
    are short answers to other questions."""
    right, noise = _parted(case, hits, address)
    if not right or len(noise) < PASSAGES:
        return []
    made = [_mixed(case, NOISE_ROBUSTNESS, share, right, noise) for share in NOISE]
    made.append(Trial(case, REJECTION, 1.0, tuple(noise[:PASSAGES])))
    # In a question file each expected page answers by itself; in a corpus all right documents count.
    needs_several = len(case.url_groups) > 1 or (not case.spellings and len(case.expected_urls) > 1)
    if needs_several and _meets_all(case, right, address):
        made += [_mixed(case, INTEGRATION, share, right, noise) for share in NOISE_OF_SEVERAL]
    if changed := _with_changed_fact(case, right, noise, others):
        made.append(changed)
    return made


def summary(results: Sequence[TrialResult]) -> list[dict[str, float | int | str | None]]:
    """A line for each ability and share of noise."""
    lines = []
    for ability in (NOISE_ROBUSTNESS, REJECTION, INTEGRATION, COUNTERFACTUAL):
        for noise in sorted({one.noise for one in results if one.ability == ability}):
            of_line = [one for one in results if (one.ability, one.noise) == (ability, noise)]
            lines.append({"ability": ability, "noise": noise, **_figures(of_line)})
    return lines


def _figures(results: Sequence[TrialResult]) -> Mapping[str, float | int | None]:
    right = [one.right for one in results if one.right is not None]
    misled = [one.misled for one in results if one.misled is not None]
    return {
        "questions": len(results),
        "right": round(sum(right) / len(right), 4) if right else None,
        "refused": round(sum(one.refused for one in results) / len(results), 4),
        "misled": round(sum(misled) / len(misled), 4) if misled else None,
        "unread": sum(one.unread for one in results),
    }


def _parted(
    case: Case, hits: Sequence[ScoredChunk], address: Callable[[str], str]
) -> tuple[list[ScoredChunk], list[ScoredChunk]]:
    """Chunks of right pages, those of different needs in turns, and all others; best first."""
    needs = [{page_address(url) for url in need} for need in case.needs]
    right_pages = {page_address(url) for url in case.expected_urls}.union(*needs)
    of_page = [(page_address(address(hit.chunk.url)), hit) for hit in hits]
    by_need = [[hit for page, hit in of_page if page in need] for need in needs]
    right = list({hit.chunk.id: hit for hit in in_turn(by_need)}.values())
    return right, [hit for page, hit in of_page if page not in right_pages]


def _mixed(
    case: Case, ability: str, share: float, right: Sequence[ScoredChunk], noise: Sequence[ScoredChunk]
) -> Trial:
    wrong = round(share * PASSAGES)
    given = [*right[: PASSAGES - wrong], *noise[:wrong]]
    return Trial(case, ability, share, tuple(sorted(given, key=lambda hit: -hit.score)))


def _meets_all(case: Case, right: Sequence[ScoredChunk], address: Callable[[str], str]) -> bool:
    fewest = PASSAGES - round(NOISE_OF_SEVERAL[-1] * PASSAGES)
    given = {page_address(address(hit.chunk.url)) for hit in right[:fewest]}
    return all(given.intersection(map(page_address, need)) for need in case.needs)


def _with_changed_fact(
    case: Case, right: Sequence[ScoredChunk], noise: Sequence[ScoredChunk], others: Sequence[str]
) -> Trial | None:
    """The true passage, the changed copy of it from an address of its own, and noise."""
    for hit in right:
        changed = changed_fact(hit.chunk.text, reference_of(case), others)
        if changed:
            copy = replace(hit, chunk=_copy(hit.chunk, changed.text))
            given = (copy, hit, *noise[: PASSAGES - 2])
            return Trial(case, COUNTERFACTUAL, 0.0, given, changed)
    return None


def _copy(chunk: Chunk, text: str) -> Chunk:
    url = f"{chunk.url}{'&' if '?' in chunk.url else '?'}{COPY}"
    id = hashlib.sha256(f"{chunk.id} {text}".encode("utf-8", "replace")).hexdigest()[:32]
    return replace(chunk, id=id, url=url, text=text, position=0, anchor="")
