"""What people paste as a source: lists of addresses, and questions with answers as text, CSV or JSON."""

import csv
import io
import json
import re
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass

from crawler.crawl import crawl
from crawler.errors import BadFile, BadStart
from crawler.extractors.language import language_of_text
from crawler.extractors.text import fold, without_controls
from crawler.fetching.fetcher import Validators
from crawler.options import CrawlOptions, start_address
from crawler.page import Block, Page, content_hash
from crawler.report import UrlOutcome

MOST_PAIRS = 20_000
_LONGEST_QUESTION = 1000
_QUESTION = re.compile(
    r"\s*\**(Q|Question|F|Frage|P|Pregunta|Domanda|V|В|Вопрос|问|問|問い)\s*\d*\s*[:：.)]\s*\**\s*(?=\S)",
    re.IGNORECASE,
)
_ANSWER = re.compile(
    r"\s*\**(?:A|Answer|Antwort|R|Réponse|Respuesta|Risposta|О|Ответ|答)\s*\d*\s*[:：.)]\s*\**\s*",
    re.IGNORECASE,
)
_ITEM = re.compile(r"\s*(?:[-*•]|\d+[.)])\s+\S")
_QUESTION_NAMES = ("question", "q", "frage", "pregunta", "domanda", "вопрос", "prompt", "title")
_ANSWER_NAMES = ("answer", "a", "antwort", "respuesta", "réponse", "risposta", "ответ", "response", "text")


@dataclass(frozen=True, slots=True)
class Pair:
    """One question, white space folded, and its answer as it was written."""

    question: str
    answer: str


def parse_pairs(text: str) -> list[Pair]:
    """All pairs; of a repeated question the last. Raises BadFile with the number of the line."""
    text = text.replace("\r\n", "\n").replace("\r", "\n").lstrip("\ufeff")
    if not text.strip():
        raise BadFile('there is nothing in it: write lines such as "Q: How long …?" and "A: Two days."')
    read = _reader_of(text)
    found: dict[str, Pair] = {}
    for line, question, answer in read(text):
        pair = Pair(fold(without_controls(question)), without_controls(answer).strip())
        if not pair.question or not any(map(str.isalnum, pair.answer)):
            missing = "question" if not pair.question else "answer"
            raise BadFile(f"line {line}: the {missing} is missing")
        if len(pair.question) > _LONGEST_QUESTION:
            raise BadFile(f"line {line}: the question is longer than {_LONGEST_QUESTION} characters")
        found[pair.question.casefold()] = pair
        if len(found) > MOST_PAIRS:
            raise BadFile(f"there are more than {MOST_PAIRS:,} questions in it")
    return list(found.values())


def pair_page(url: str, pair: Pair) -> Page:
    """The page of one pair: its title is the question, so that the question finds it."""
    blocks = tuple(_blocks(pair.answer))
    return Page(
        url=url,
        title=pair.question,
        language=language_of_text(f"{pair.question} {pair.answer}"),
        blocks=blocks,
        content_hash=content_hash(pair.question, blocks),
    )


def _blocks(answer: str) -> Iterator[Block]:
    for part in re.split(r"\n\s*\n", answer):
        lines = [line.rstrip() for line in part.split("\n") if line.strip()]
        if len(lines) > 1 and all(_ITEM.match(line) for line in lines):
            yield Block("\n".join(re.sub(r"^(\s*)[*•]", r"\1-", line) for line in lines), kind="list")
        elif any(map(str.isalnum, part)):
            yield Block(fold(part))


def _reader_of(text: str) -> Callable[[str], Iterator[tuple[int, str, str]]]:
    first = next(line for line in text.split("\n") if line.strip())
    if first.lstrip().startswith("{"):
        return _json_lines
    return _marked if _QUESTION.match(first) else _table


def _marked(text: str) -> Iterator[tuple[int, str, str]]:
    """ "Q: …" and "A: …", each over any number of lines; the first question shows how they are marked."""
    word = ""
    question: list[str] = []
    answer: list[str] | None = None
    begun = 0
    for number, line in enumerate(text.split("\n"), 1):
        marked = _QUESTION.match(line)
        if marked and marked[1].lower() == (word or marked[1].lower()):
            if word:
                yield begun, " ".join(question), "\n".join(answer or [])
            word, begun = marked[1].lower(), number
            question, answer = [line[marked.end() :]], None
        elif answer is None and (answered := _ANSWER.match(line)):
            answer = [line[answered.end() :]]
        elif answer is not None:
            answer.append(line)
        else:
            question.append(line)
    yield begun, " ".join(question), "\n".join(answer or [])


def _json_lines(text: str) -> Iterator[tuple[int, str, str]]:
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except (json.JSONDecodeError, RecursionError) as error:
            raise BadFile(f"line {number} is no JSON object ({error})") from error
        if not isinstance(row, dict):
            raise BadFile(f"line {number} is no JSON object")
        fields = {str(name).lower(): value for name, value in row.items() if isinstance(value, str)}
        yield number, _first(fields, _QUESTION_NAMES), _first(fields, _ANSWER_NAMES)


def _table(text: str) -> Iterator[tuple[int, str, str]]:
    """CSV with commas, semicolons or tabs; a first row of names is optional."""
    first = text.lstrip().partition("\n")[0]
    delimiter = max("\t;,", key=lambda sign: (first.count(sign) > 0, -"\t;,".index(sign)))
    rows = csv.reader(io.StringIO(text), delimiter=delimiter)
    columns: tuple[int, int] | None = None
    try:
        for row in rows:
            if not any(cell.strip() for cell in row):
                continue
            if columns is None:
                columns = _named_columns(row)
                if columns is not None:
                    continue
                columns = (0, 1)
            if len(row) <= max(columns):
                raise BadFile(
                    f'line {rows.line_num} has no answer: write "Q:" and "A:" lines, a table of two columns '
                    "with question and answer, or JSON lines"
                )
            yield rows.line_num, row[columns[0]], row[columns[1]]
    except csv.Error as error:
        raise BadFile(f"line {rows.line_num}: {error}") from error


def _named_columns(row: list[str]) -> tuple[int, int] | None:
    names = [cell.strip().lower() for cell in row]
    question = next((n for n, name in enumerate(names) if name in _QUESTION_NAMES), None)
    answer = next((n for n, name in enumerate(names) if name in _ANSWER_NAMES and n != question), None)
    return None if question is None or answer is None else (question, answer)


def _first(fields: dict[str, str], names: tuple[str, ...]) -> str:
    return next((fields[name] for name in names if name in fields), "")


MOST_ADDRESSES = 10_000
_AT_ONCE = 500


def parse_addresses(text: str) -> tuple[str, ...]:
    """Canonical addresses, one a line, each once; lines that start with "#" are comments. Raises BadStart."""
    found: dict[str, None] = {}
    for number, line in enumerate(text.lstrip("\ufeff").splitlines(), 1):
        if line.strip() and not line.lstrip().startswith("#"):
            try:
                found[start_address(line)] = None
            except BadStart as error:
                raise BadStart(f"line {number}: {error}") from error
    if not found:
        raise BadStart("There is no address in it: write one a line, such as https://example.com/help.")
    if len(found) > MOST_ADDRESSES:
        raise BadStart(f"There are more than {MOST_ADDRESSES:,} addresses in it.")
    return tuple(found)


def read_addresses(
    addresses: Sequence[str], options: CrawlOptions, known: Mapping[str, Validators]
) -> Generator[UrlOutcome, None, None]:
    """Outcome of each address, and of the target of a redirect. No link is followed.

    Raises BadStart when one of them must not be read.
    """
    for start in range(0, len(addresses), _AT_ONCE):
        part = tuple(addresses[start : start + _AT_ONCE])
        chosen = options.with_changes(
            start_urls=part,
            path_prefix="",
            include=(),
            exclude=(),
            max_depth=0,
            max_pages=2 * len(part) + 10,
            max_feeds=0,
            use_sitemaps=False,
        )
        with closing(crawl(chosen, {url: known[url] for url in part if url in known})) as outcomes:
            yield from _listed(outcomes, set(part))


def _listed(outcomes: Iterable[UrlOutcome], wanted: set[str]) -> Iterator[UrlOutcome]:
    """Outcomes of the addresses and of the targets of their redirects, which may come first."""
    others: dict[str, UrlOutcome] = {}
    for outcome in outcomes:
        if outcome.url not in wanted:
            others[outcome.url] = outcome
            continue
        yield outcome
        if outcome.target:
            wanted.add(outcome.target)
            if outcome.target in others:
                yield others.pop(outcome.target)
