"""Questions of test sets: from files, operators, conversations and the site's own pages; and as files."""

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import urlsplit

from server.answering.engine import Engine, SiteParts
from server.domain.addresses import absolute
from server.domain.answer import Message
from server.domain.site import Site
from server.errors import StartError
from server.evaluation.candidates import MODEL
from server.evaluation.questions import BadQuestionFile, Case, case_of_line
from server.evaluation.testsets import TestSet, TestSetOptions, build_test_set
from server.quality.testset_store import StoredCase
from server.settings import Settings
from server.storage.content.page_facts import StoredText
from server.storage.conversations.conversations import ConversationStore
from server.storage.conversations.questions import QuestionLog
from server.storage.database import Database

LONGEST_QUESTION = 1000
MOST_PAGES = 20
MOST_PROBLEMS = 20
"""Wrong lines that one message lists."""


class BadQuestions(Exception):
    """What was given cannot become questions; nothing of it was stored."""

    def __init__(self, problems: Sequence[str]) -> None:
        super().__init__(problems[0])
        self.problems = tuple(problems)
        """Sentences that say what to do, by line where there are lines."""


def question_base(site: Site, settings: Settings) -> str:
    """What paths in questions of a site are relative to."""
    return site.start_urls[0] if site.start_urls else f"{settings.serving.base_url}/sources/{site.id}/"


def read_upload(body: bytes, site: Site, settings: Settings) -> list[StoredCase]:
    """The questions of a file. Raises BadQuestions with every wrong line, up to MOST_PROBLEMS."""
    if len(body) > settings.quality.testset_bytes:
        raise BadQuestions(
            [f"The file has more than {settings.quality.testset_bytes:,} bytes (TESTSET_BYTES)."]
        )
    try:
        text = body.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise BadQuestions(
            ["The file is not UTF-8 text. Save it as UTF-8, one JSON object a line."]
        ) from None
    # Only what ends a line of a file: a line separator inside a JSON text is part of it.
    lines = [(at, line.strip()) for at, line in enumerate(text.split("\n"), 1) if line.strip()]
    if not lines:
        raise BadQuestions(['The file is empty. Write one JSON object a line, such as {"question": "…"}.'])
    most = settings.quality.testset_questions
    if len(lines) > most:
        raise BadQuestions(
            [f"The file has {len(lines):,} questions; at most {most:,} are taken "
             "(TESTSET_QUESTIONS). Leave some out, or split it."]
        )  # fmt: skip
    return _checked(lines, question_base(site, settings))


def _checked(lines: Sequence[tuple[int, str]], base: str) -> list[StoredCase]:
    problems: list[str] = []
    made: list[StoredCase] = []
    seen: dict[str, int] = {}
    for at, line in lines:
        try:
            case = case_of_line(line, f"Line {at}", str(at), base)
        except (BadQuestionFile, ValueError, TypeError) as error:
            problems.append(f"{error}.")
            continue
        if case.id in seen:
            problems.append(
                f'Line {at}: the id "{case.id}" is on line {seen[case.id]} too; each needs its own.'
            )
        elif len(case.question) > LONGEST_QUESTION:
            problems.append(f"Line {at}: the question has more than {LONGEST_QUESTION:,} characters.")
        seen.setdefault(case.id, at)
        made.append(stored_case(case, line, len(made) + 1))
    if len(problems) > MOST_PROBLEMS:
        problems[MOST_PROBLEMS:] = [f"{len(problems) - MOST_PROBLEMS:,} further lines are wrong."]
    if problems:
        raise BadQuestions(problems)
    return made


def stored_case(case: Case, line: str, number: int = 0) -> StoredCase:
    """As it is kept. Whether it can be answered is what judges go by; a question of which nothing is known
    counts as answerable."""
    answerable = case.type not in ("unanswerable", "injection")
    return StoredCase(number, case.id, case.question, case.type, answerable, line)


def written_cases(cases: Iterable[Case], settings: Settings) -> list[StoredCase]:
    """Cases that were made here, each with its line in a file."""
    return [
        stored_case(case, line_of(case, settings.serving.base_url), number)
        for number, case in enumerate(cases, 1)
    ]


def line_of(case: Case, base_url: str) -> str:
    """A case as a line of a question file: its addresses whole."""
    row = case.to_json()
    for name in ("expected_urls", "left_out"):
        if name in row:
            row[name] = [absolute(url, base_url) for url in getattr(case, name)]
    row.pop("spellings", None)
    return json.dumps(row, ensure_ascii=False)


def case_of(stored: StoredCase, site: Site, settings: Settings) -> Case:
    """What a stored question means. Raises BadQuestionFile for one that an older version stored."""
    case = case_of_line(stored.line, stored.case_id, stored.case_id, question_base(site, settings))
    return replace(case, id=stored.case_id)


def run_file_of(cases: Iterable[StoredCase]) -> str:
    """A question file, each line with the name by which reports call it."""
    return "".join(json.dumps({**json.loads(case.line), "id": case.case_id}) + "\n" for case in cases)


def written_case(
    question: str, pages: Sequence[str], *, answerable: bool, answer: str = "", kind: str = "",
    known: StoredCase | None = None,
) -> StoredCase:  # fmt: skip
    """What an operator wrote; with `known`, that question changed, and all else that its line says kept.
    Raises BadQuestions."""
    asked = " ".join(question.split())
    _check_written(asked, pages, answerable)
    row = json.loads(known.line) if known else {}
    row["question"] = question if known and asked == " ".join(known.question.split()) else asked
    kind = kind or ("lookup" if answerable else "unanswerable")
    if not answerable and kind != "injection":
        kind = "unanswerable"
    elif answerable and kind in ("unanswerable", "injection"):
        kind = "lookup"
    for name, value, usual in (
        ("type", kind, "lookup"),
        ("expected_urls", list(pages), []),
        ("answer", answer, ""),
    ):
        if value != row.get(name, usual):
            row[name] = value
        if name in row and row[name] == usual and name != "type":
            del row[name]
    if known and row == json.loads(known.line):
        return known
    if known:
        return StoredCase(known.number, known.case_id, row["question"], kind, answerable, _line(row))
    return StoredCase(0, "", asked, kind, answerable, _line(row))


def _check_written(asked: str, pages: Sequence[str], answerable: bool) -> None:
    if not asked:
        raise BadQuestions(["Write the question as visitors ask it."])
    if len(asked) > LONGEST_QUESTION:
        raise BadQuestions([f"Write the question in at most {LONGEST_QUESTION:,} characters."])
    if len(pages) > MOST_PAGES:
        raise BadQuestions([f"Name at most {MOST_PAGES} pages."])
    if pages and not answerable:
        raise BadQuestions(["A question that the site cannot answer has no page: leave the page empty."])
    for page in pages:
        if not is_page(page):
            raise BadQuestions(
                [f"“{page[:80]}” is no address of a page. Write it whole, as https://example.com/page, or "
                 "from the first slash on."]
            )  # fmt: skip


def is_page(address: str) -> bool:
    """Return whether it can be the address of a page, whole or below the site."""
    if any(character.isspace() or ord(character) < 32 for character in address) or "\\" in address:
        return False
    try:
        parts = urlsplit(address)
    except ValueError:
        return False
    if parts.scheme or parts.netloc:
        return parts.scheme in ("http", "https") and bool(parts.netloc)
    return address.startswith("/")


def _line(row: dict[str, object]) -> str:
    return json.dumps(row, ensure_ascii=False)


LEAVE_OUT, UNANSWERABLE, UNKNOWN = "no", "unanswerable", "unknown"
"""What to do with refused questions: leave them out; a refusal is right; the right page is not known yet."""
TURNS = 4
"""Earlier questions of a conversation that a question keeps."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is taken from the conversations of a site."""

    helped: bool = True
    """Questions with thumbs up, their cited pages as the expected ones."""
    refused: str = LEAVE_OUT
    """LEAVE_OUT, UNANSWERABLE or UNKNOWN."""
    days: int = 90
    most: int = 200


def questions_of_visitors(
    database: Database, site: Site, wanted: Wanted, settings: Settings
) -> list[StoredCase]:
    """The newest first, each question once; a question that leans on earlier ones keeps them."""
    since = datetime.now(UTC) - timedelta(days=wanted.days)
    found: dict[str, Case] = {}
    for message, kind, pages in _messages(database, site.id, wanted, since):
        folded = " ".join(message.question.split()).casefold()
        if folded and len(message.question) <= LONGEST_QUESTION and folded not in found:
            found[folded] = _case(database, message, kind, pages, len(found) + 1)
        if len(found) >= min(wanted.most, settings.quality.testset_questions):
            break
    return [replace(case, from_visitor=True) for case in written_cases(found.values(), settings)]


def _messages(
    database: Database, site_id: str, wanted: Wanted, since: datetime
) -> Iterator[tuple[Message, str, tuple[str, ...]]]:
    log = QuestionLog(database)
    if wanted.helped:
        for message in log.helped(site_id, since, 2 * wanted.most):
            pages = tuple(dict.fromkeys(cited.url.partition("#")[0] for cited in message.answer.citations))
            yield message, "lookup", pages
    if wanted.refused != LEAVE_OUT:
        kind = "unanswerable" if wanted.refused == UNANSWERABLE else "lookup"
        for message in log.refused(site_id, since, 2 * wanted.most):
            yield message, kind, ()


def _case(database: Database, message: Message, kind: str, pages: tuple[str, ...], number: int) -> Case:
    values: dict[str, Any] = {"lang": message.language, "type": kind, "expected_urls": pages}
    if message.query and message.query != message.question:
        said = ConversationStore(database).get(message.conversation_id).messages
        earlier = [one for one in said if one.asked_at < message.asked_at][-TURNS:]
        if before := tuple((one.question, one.answer.text) for one in earlier):
            values |= {"history": before, "type": kind if kind == "unanswerable" else "followup"}
    return Case(f"visitor-{number}", message.question, **values)


def questions_of_pages(engine: Engine, site: Site, wanted: TestSetOptions) -> TestSet:
    """Made from the live pages. Raises StartError with what to do, ModelError, IndexFailure."""
    if not site.generation:
        raise StartError(f"{site.id} is not indexed yet; run: python -m server crawl {site.id}")
    model = engine.chat_model if MODEL in wanted.kinds else None
    if MODEL in wanted.kinds and model is None:
        raise StartError(
            "the kind model needs a chat model: set OPENAI_API_KEY, or leave model out of --kinds"
        )
    parts = engine.parts(site.id)
    text = StoredText(parts.content, parts.facts)
    return build_test_set(text, wanted, model, _nearest(parts) if wanted.unanswerable else None)


def shortcomings(made: TestSet, wanted: TestSetOptions) -> list[str]:
    """What is missing of what was ordered, in sentences."""
    missing = []
    answerable = len(made.cases) - made.kinds["unanswerable"]
    if answerable < wanted.count:
        missing.append(f"{wanted.count} were asked for: the site has no more that name their page")
    if made.kinds["unanswerable"] < wanted.unanswerable:
        missing.append(
            f"{wanted.unanswerable} unanswerable ones were asked for: the other subjects are on several pages"
        )
    if made.model.calls:
        missing.append(asked_of_model(made))
    return missing


def asked_of_model(made: TestSet) -> str:
    """How often the model was asked, and which replies could not be used."""
    tally = made.model
    return (
        f"The model was asked {tally.calls} times: {tally.unread} replies could not be read, the evidence of "
        f"{tally.unproven} is not on its page"
    )


def _nearest(parts: SiteParts) -> Callable[[str, int], list[tuple[str, float]]]:
    def nearest(text: str, limit: int) -> list[tuple[str, float]]:
        hits = parts.vectors.search(parts.embedder.embed([text])[0], limit)
        chunks = parts.content.load([id for id, _ in hits])
        return [(chunks[id].url, cosine) for id, cosine in hits if id in chunks]

    return nearest
