"""Figures of the overview: how each is called, compared and listed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from flask import url_for

from admin.formats import milliseconds, money, number
from server.storage.figures import Figures

OUTCOMES = (
    ("answered", "Answered"),
    ("curated", "Curated"),
    ("refused", "Refused"),
    ("clarify", "Asked back"),
    ("handoff", "Handed over"),
    ("limited", "Turned away"),
)
"""In the order of the bars, from below."""


@dataclass(frozen=True, slots=True)
class Compared:
    """One figure."""

    label: str
    text: str
    address: str
    """The list that counts it."""
    before: str
    """What it was in the days before; empty when there is nothing to compare with."""
    change: str
    """Such as +12 %."""
    note: str = ""
    counted: int | None = None
    """What the list counts, where that is another number than the figure."""


def compared(
    total: Figures, before: Figures, written: int, written_before: int, site_id: str, days: int
) -> list[Compared]:
    """All of them. `written` are messages to people."""
    shared: dict[str, Any] = {"days": days, **({"site": site_id} if site_id else {})}

    def listed(**held: str | int) -> str:
        return url_for("admin.conversations", **{**shared, **held})

    def count(label: str, now: int, then: int, address: str) -> Compared:
        return Compared(label, number(now), address, number(then), change(now, then))

    figures = [
        count("Conversations", total.opened, before.opened, listed(first=1)),
        count("Questions", total.asked, before.asked, listed()),
    ]
    figures += [
        count(label, getattr(total, name), getattr(before, name), listed(outcome=name))
        for name, label in OUTCOMES
    ]
    figures += [
        count("Thumbs up", total.up, before.up, listed(thumbs="up")),
        count("Thumbs down", total.down, before.down, listed(thumbs="down")),
        count("Messages to people", written, written_before, url_for("admin.messages", **shared)),
    ]
    for label, share in (("Half within", 0.5), ("95 % within", 0.95)):
        if step := total.within(share):
            figures.append(_time(label, total, step, before.within(share), listed(slower=step)))
    return [*figures, *_spent(total, before, listed(paid=1))]


def change(now: float, then: float) -> str:
    """By how much; empty when that says nothing."""
    if not then or now == then:
        return ""
    share = 100 * (now - then) / then
    return f"{share:+.0f} %" if abs(share) < 1000 else f"{now / then:.0f} times"


def _time(label: str, total: Figures, step: int, then: int | None, address: str) -> Compared:
    slower = total.slower(step)
    return Compared(
        label,
        milliseconds(step),
        address,
        milliseconds(then) if then else "",
        change(step, then or 0),
        f"{number(slower)} took longer",
        slower,
    )


def _spent(total: Figures, before: Figures, address: str) -> Iterator[Compared]:
    if not total.tokens and not before.tokens:
        return
    spent, then = money(total.cost), money(before.cost)
    yield Compared("Cost of answers", spent, address, then, change(total.cost, before.cost))
    spent, then = number(total.tokens), number(before.tokens)
    yield Compared("Tokens", spent, address, then, change(total.tokens, before.tokens))
