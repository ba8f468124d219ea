"""Gaps and own answers as they stand in the database, and what of them needs no model."""

from datetime import UTC, date, datetime, timedelta

from server.answering.shortcuts.curated import CuratedAnswers
from server.domain.answer import Outcome
from server.domain.curated import ContentCheck, CuratedAnswer
from server.domain.gap import GapStatus, Missing, NearPage, Solved
from server.domain.question import Question
from server.domain.site import Site
from server.gaps.clusters import Cluster
from server.gaps.clusters import asked as compared
from server.gaps.gap_work import Looked
from server.gaps.intake import GapIntake, Member
from tests.admin.samples import ask

LANTERN = "https://lantern.example"
PAGES = {
    "gaps": "/admin/gaps?status=all",
    "gap": "/admin/gaps/warranty",
    "gap_solved": "/admin/gaps/giftcards",
    "curated_one": "/admin/sites/lantern/answers/1",
    "curated_import": "/admin/sites/lantern/answers/import",
    "curated_of_gap": "/admin/sites/lantern/answers/new?gap=warranty",
}
ASKED = {
    "warranty": (
        ("How long is the warranty on a lamp?", "anna"),
        ("how long does the warranty last", "ben"),
        ("Is there a warranty if I bought the lamp abroad?", "cleo"),
        ("How long is the warranty on a lamp?", "ben"),
    ),
    "hire": (("Do you hire out lamps for film sets?", "dora"), ("Can I rent lamps for a film?", "emil")),
    "giftcards": (("Do you sell gift cards?", "finn"),),
    "jobs": (("Do you have a job for me?", "gina"), ("are you hiring", "hugo")),
    "islands": (("هل توصلون إلى الجزر؟", "iman"),),
}


class NoLikeness:
    def of(self, text, others, language):
        return [0.0 for _ in others]


class WordedAnswers:
    """The own answers of the stores: without a model only equal wording matches, and no page is asked."""

    def __init__(self, stores):
        self._curated = stores.curated

    def nearest(self, site, text, limit=5):
        answers = CuratedAnswers(lambda: self._curated.all(site.id), NoLikeness(), 0.77)
        return answers.nearest(Question(text, site.id, (), "en"), limit)

    def check(self, site, answer):
        check = ContentCheck(datetime.now(UTC), "")
        self._curated.note_check(site.id, answer.id, check)
        return check


class StillGaps:
    """Nothing is taken in or asked anew where there is no model."""

    def look(self, seconds):
        return Looked(0, False)

    def recheck_one(self, gap, by):
        return None

    def curated_saved(self, site, curated_id):
        return []


def make_site_without_gaps(runtime):
    runtime.stores.sites.create(Site("quiet", "Quiet", "Quiet", ("https://quiet.example/",)))


def make_gap(runtime, id, asked, site_id="lantern", outcome=Outcome.REFUSED):
    """Messages that were refused, and the gap that they are."""
    intake = GapIntake(runtime.database, 0.5)
    for text, visitor in asked:
        conversation = runtime.dialogue.conversations.start(site_id, visitor)
        ask(
            runtime, site_id, text, conversation_id=conversation, outcome=outcome, citations=(),
            text="The site says nothing about that.", asked_at=datetime.now(UTC) - timedelta(hours=3),
        )  # fmt: skip
    batch = intake.waiting(1000)
    texts = {text for text, _ in asked}
    members = [Member(one, one.question, None) for one in batch.badly if one.question in texts]
    group = Cluster(id, compared(asked[0][0], "en"), len(members))
    intake.store(site_id, [(group, members)])
    intake.done(batch)
    return runtime.stores.gaps.get(id)


def fill(runtime):
    """Gaps of every status, and own answers of every state."""
    for id, asked in ASKED.items():
        make_gap(runtime, id, asked)
    near = [
        NearPage(f"{LANTERN}/returns", "Returns", "How to return a lamp", 0.61),
        NearPage(f"{LANTERN}/lamp-care", "Lamp care", "", 0.42),
    ]
    runtime.stores.gaps.describe("warranty", near, Missing(("warranty", "abroad"), ("bought",)))
    runtime.stores.gaps.describe("hire", near[1:], Missing((), ("film",)))
    runtime.stores.gaps.describe("giftcards", near[:1], Missing())
    runtime.stores.gaps.describe("jobs", [], Missing(("job",)))
    runtime.stores.gaps.judge(
        "hire", GapStatus.PLANNED, "Ben writes the page until Friday.", "ada@example.com"
    )
    runtime.stores.gaps.judge("jobs", GapStatus.IGNORED, "", "ada@example.com")
    quote = "Gift cards are sold at the counter and by post."
    page = Solved(f"{LANTERN}/returns", "Returns", quote, f"{LANTERN}/returns#:~:text=Gift%20cards", 2)
    runtime.stores.gaps.was_asked("giftcards", "answered", page)
    runtime.stores.gaps.was_asked("warranty", "refused", None, "ada@example.com")
    _answers(runtime)


def _answers(runtime):
    save = runtime.stores.curated.save
    first = save(
        CuratedAnswer(
            "lantern", ("How long do refunds take?", "When is my money back?"), "Refunds take 30 days."
        ),
        "ada@example.com",
    )
    told = ("The site says 14 days, this answer says 30 days.",)
    said = "Refunds are paid within 14 days after the lamp has arrived."
    check = ContentCheck(datetime.now(UTC), "answered", said, f"{LANTERN}/returns", told)
    runtime.stores.curated.note_check("lantern", first.id, check)
    save(
        CuratedAnswer(
            "lantern", ("Is the shop open at Christmas?",), "Until noon.", valid_from=date(2999, 12, 20)
        ),
        "ada@example.com",
    )
    save(CuratedAnswer("lantern", ("Is there a sale?",), "Yes.", valid_until=date(2020, 1, 31)), "shell")
    return first
