"""How gaps, and what is wrong with curated answers, are put into words: filters of the templates."""

from __future__ import annotations

from server.domain.curated import CuratedState
from server.domain.gap import Gap, GapEvent, GapStatus, Why

STATUS = {
    GapStatus.NEW: "New",
    GapStatus.PLANNED: "Planned",
    GapStatus.SOLVED_PAGE: "Solved by a page",
    GapStatus.SOLVED_CURATED: "Solved by an own answer",
    GapStatus.IGNORED: "Ignored",
}
COLOURS = {
    GapStatus.NEW: "warn",
    GapStatus.PLANNED: "busy",
    GapStatus.SOLVED_PAGE: "well",
    GapStatus.SOLVED_CURATED: "well",
    GapStatus.IGNORED: "",
}
WHY = {
    Why.REFUSED: ("refused", "refused"),
    Why.THUMBS_DOWN: ("thumb down", "thumbs down"),
    Why.LOW_SUPPORT: ("answered on weak evidence", "answered on weak evidence"),
}
OUTCOMES = {
    "answered": "It was answered, but not by anything new or well supported.",
    "refused": "It was refused again.",
    "clarify": "Docent asked back.",
    "handoff": "It was taken for a wish to talk to a person.",
    "limited": "It was not answered.",
}
STATES = {
    CuratedState.ON: ("On", "well"),
    CuratedState.OFF: ("Off", "busy"),
    CuratedState.NOT_YET: ("Not yet", "busy"),
    CuratedState.ENDED: ("Ended", "warn"),
}
NOT_GIVEN = {
    "likeness": "Not alike enough",
    "numbers": "Not given: the questions name different numbers",
    "denial": "Not given: one of the questions says “not”",
    "kind": "Not given: one asks when, where or who, the other something else",
    "direction": "Not given: the questions go in opposite directions, such as from and to",
    "language": "Not given: it is for another language",
    "off": "Not given: it is switched off",
    "not yet": "Not given: its first day is still to come",
    "ended": "Not given: its last day is over",
}


def status_word(status: GapStatus) -> str:
    """As operators read it."""
    return STATUS[status]


def status_colour(status: GapStatus) -> str:
    """Of its badge."""
    return COLOURS[status]


def lacks(gap: Gap) -> str:
    """What is missing, as a sentence; empty until somebody looked."""
    missing = gap.missing
    if missing is None:
        return ""
    if missing.nowhere:
        return f"No page mentions: {', '.join(missing.nowhere)}."
    if not gap.nearest:
        return "No page comes near this question."
    if missing.elsewhere:
        return f"The nearest pages do not mention: {', '.join(missing.elsewhere)}."
    if Why.REFUSED not in gap.why:
        return "Pages were cited for it, but the answer did not serve."
    return "Pages mention all of it, but no sentence answers."


def reasons(gap: Gap) -> str:
    """Why its questions count: "3 refused, 1 thumb down"."""
    return ", ".join(f"{gap.why[why]} {WHY[why][gap.why[why] > 1]}" for why in Why if why in gap.why)


def happened(event: GapEvent) -> str:
    """An event as a sentence."""
    details = event.details
    if event.action == "closed":
        answered = "one of your own answers" if details.get("curated") else "a page of the site"
        crawl = f" after crawl {details['crawl']}" if details.get("crawl") else ""
        return f"Asked again{crawl}, it was answered by {answered}. The gap closed itself."
    if event.action == "judged":
        return _judged(details)
    visitor = "" if event.by else " by a visitor"
    return {
        "found": "Found.",
        "reopened": f"Asked again{visitor} and not answered. The gap is open again.",
        "merged": "Joined with another gap that asks the same.",
        "asked": f"Asked again. {OUTCOMES.get(str(details.get('outcome')), 'It was not answered.')}",
    }.get(event.action, event.action)


def _judged(details: dict[str, object]) -> str:
    now, before = str(details.get("status", "")), str(details.get("before", ""))
    moved = f"Status changed to “{STATUS[GapStatus(now)]}”." if now and now != before else ""
    if "note" not in details:
        return moved
    note = f"Note: {details['note']}" if details["note"] else "The note was removed."
    return f"{moved} {note}".strip()


def curated_state(state: CuratedState) -> tuple[str, str]:
    """(word, colour of its badge)."""
    return STATES[state]


def not_given(why: str) -> str:
    """What keeps a curated answer from being given."""
    return NOT_GIVEN.get(why, why)


FILTERS = {
    "gap_status": status_word,
    "gap_colour": status_colour,
    "gap_lacks": lacks,
    "gap_reasons": reasons,
    "gap_happened": happened,
    "curated_state": curated_state,
    "not_given": not_given,
}
