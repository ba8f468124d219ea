"""Learns the translations of a site's words from pages that it has in two languages.

Variants of a page (hreflang, or a menu of languages) are compared heading by heading and block by block.
IBM's model 1, in both directions, finds the words that translate each other: two words are a pair if each is
the likely explanation of the other. The work is bounded, so that a crawl of a large site ends no later.
"""

import json
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import groupby

import numpy as np
from numpy.typing import NDArray

from server.domain.chunk import Chunk
from server.indexes.tokens import letters_of, tokens
from server.storage.content.derived import DerivedStore
from server.storage.content.reader import MOST_IN_A_LANGUAGE, PageRecord

KEY = "word pairs"
"""Key of the pairs among the derived indexes of a site."""
PAGES = 400
"""Maximum number of pages compared for each language."""
CELLS = 1_000_000
"""Maximum number of pairs of words that are counted for each language."""
LONGEST = 60
"""Words of a block; longer blocks are too vague."""
FEWEST = 2
"""Different blocks that both words of a pair must share."""
ROUNDS = 8
FLOOR = 0.3
"""Minimum probability of a pair, the geometric mean of both directions."""

WordPairs = dict[str, dict[str, str]]
"""Language -> token of that language -> word of the target language."""
Texts = tuple[str, str]


def learn_word_pairs(
    pages: Sequence[PageRecord], page: Callable[[str], Sequence[Chunk]], target: str
) -> WordPairs:
    """Return the pairs of every other language of the site. `page` returns the chunks of a page."""
    groups: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for one in pages:
        if one.variant_group and one.language:
            groups[one.variant_group][one.language].append(one.url)
    variants: dict[str, list[Texts]] = defaultdict(list)
    for group in groups.values():
        if target in group and all(len(urls) <= MOST_IN_A_LANGUAGE for urls in group.values()):
            for language, urls in group.items():
                if language != target:
                    variants[language].append((urls[0], group[target][0]))
    found: WordPairs = {}
    for language, addresses in variants.items():
        blocks = dict.fromkeys(
            texts for one, other in addresses[:PAGES] for texts in parallel_blocks(page(one), page(other))
        )
        if pairs := pairs_of(list(blocks), language, target):
            found[language] = pairs
    return found


def parallel_blocks(one: Sequence[Chunk], other: Sequence[Chunk]) -> Iterator[Texts]:
    """Yield the texts of two pages that say the same. Pages with different numbers of sections give none."""
    theirs, others = _sections(one), _sections(other)
    if len(theirs) != len(others):
        return
    for (headings, lines), (other_headings, other_lines) in zip(theirs, others, strict=True):
        for some, same in ((headings, other_headings), (lines, other_lines)):
            if len(some) == len(same):
                yield from zip(some, same, strict=True)
            else:
                yield "\n".join(some), "\n".join(same)


def _sections(page: Sequence[Chunk]) -> list[tuple[list[str], list[str]]]:
    """Return (title and headings, lines) of each section, in page order."""
    sections = []
    for headings, chunks in groupby(page, key=lambda chunk: (chunk.title, *chunk.heading_path)):
        lines = [line for chunk in chunks for line in chunk.text.splitlines() if line.strip()]
        sections.append((list(headings), lines))
    return sections


def pairs_of(blocks: Sequence[Texts], language: str, target: str) -> dict[str, str]:
    """Return the likeliest word of the target language for each token that has a likely one."""
    ours: dict[str, int] = {}
    theirs: dict[str, int] = {}
    spelled: dict[str, Counter[str]] = defaultdict(Counter)
    cells: list[NDArray[np.int64]] = []
    size = 0
    for number, (text, same) in enumerate(blocks):
        asked, said = set(tokens(text, language)), set(tokens(same, target))
        if not (asked and said and max(len(asked), len(said)) <= LONGEST):
            continue
        size += len(asked) * len(said)
        if size > CELLS:
            break
        for token, word in _spellings(same, target, said):
            spelled[token][word] += 1
        left = np.array([ours.setdefault(token, len(ours)) for token in sorted(asked)])
        right = np.array([theirs.setdefault(token, len(theirs)) for token in sorted(said)])
        rows = np.full(left.size * right.size, number)
        cells.append(np.stack([rows, np.repeat(left, right.size), np.tile(right, left.size)]))
    if not cells:
        return {}
    block, left, right = np.concatenate(cells, axis=1)
    kinds, kind, times = np.unique(left * len(theirs) + right, return_inverse=True, return_counts=True)
    own, other = np.divmod(kinds, len(theirs))
    likely = np.sqrt(
        _model_1(kind, block * len(ours) + left, other) * _model_1(kind, block * len(theirs) + right, own)
    )
    likely[times < FEWEST] = 0
    our_words, their_words = list(ours), list(theirs)
    found: dict[str, str] = {}
    for at in np.argsort(-likely, kind="stable"):
        if likely[at] < FLOOR:
            break
        token, same = our_words[own[at]], their_words[other[at]]
        words = spelled.get(same)
        if token != same:  # names and numbers need no translation
            found.setdefault(token, words.most_common(1)[0][0] if words else same)
    return found


def _model_1(
    kind: NDArray[np.int64], row: NDArray[np.int64], given: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Return the probability of each kind of pair, given its word in `given`; `row` names the other word in
    its block, which the words of the block explain together."""
    _, row = np.unique(row, return_inverse=True)
    likely = np.ones(given.size)
    for _ in range(ROUNDS):
        shares = likely[kind] / np.bincount(row, likely[kind])[row]
        counts = np.bincount(kind, shares)
        likely = counts / np.bincount(given, counts)[given]
    return likely


def _spellings(text: str, language: str, wanted: set[str]) -> Iterator[tuple[str, str]]:
    """Yield (token, word as written) of the words that are one token."""
    for word in letters_of(text, language):
        found = tokens(word, language)
        if len(found) == 1 and found[0] in wanted:
            yield found[0], word


def store_word_pairs(indexes: DerivedStore, generation: int, pairs: Mapping[str, Mapping[str, str]]) -> None:
    """Store the pairs of a generation; a site without pairs has no such index."""
    if not pairs:
        indexes.drop(KEY)
        return
    figures = {"spec": KEY, "records": {language: len(words) for language, words in pairs.items()}}
    indexes.put(KEY, generation, "", json.dumps(pairs, ensure_ascii=False).encode(), figures)


def stored_word_pairs(indexes: DerivedStore) -> WordPairs:
    """Return the pairs of the live generation; none if the site has no pages in two languages."""
    state = indexes.live(KEY)
    found: WordPairs = json.loads(indexes.body(state) or b"{}") if state else {}
    return found
