"""Reports on all communities, from the deepest level up, so that a large one can rest on its parts'."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from typing import TypeVar

import numpy as np

from server.retrieval.derived.asking import Task
from server.retrieval.derived.kit import Kit
from server.retrieval.graphrag.communities import Community
from server.retrieval.graphrag.graph import SiteGraph, Statement
from server.retrieval.graphrag.leads import Leads
from server.retrieval.graphrag.report import MOST_FINDINGS, Finding, Report, read_report, report_prompt
from server.retrieval.summaries import lexrank

KIND = "community reports"
MOST_INPUT = 8000
"""Tokens that a model is given for one report."""
READ = 40
"""Statements that a report without a model is made of; a larger community rests on its parts' reports."""
FINDINGS = 8
SUMMARY = 500
"""Characters of a summary without a model."""
MOST_CHUNKS = 100
"""That a report names as its sources."""
MAIN = 5
"""Entities of a community by whose names the chunks that lead into it are found."""
NAMES = 3
"""In a title."""

T = TypeVar("T")


class Reports:
    """Writes the reports on the communities of one graph."""

    def __init__(self, kit: Kit, graph: SiteGraph, communities: Sequence[Community]) -> None:
        self._kit = kit
        self._graph = graph
        self._communities = communities
        self._leads = Leads(graph, kit.monitor)
        self._made: dict[int, Report] = {}
        self._mains: dict[int, list[int]] = {}
        self._heaviest = {
            level: max(self._weight(one) for one in communities if one.level == level)
            for level in {one.level for one in communities}
        }

    def all(self) -> list[Report]:
        """In the order of the communities. Raises ModelError, BuildStopped."""
        levels = sorted({one.level for one in self._communities}, reverse=True)
        for level in levels:
            places = [at for at, one in enumerate(self._communities) if one.level == level]
            twins = {}
            for done, at in enumerate(places):
                if done % 20 == 0:
                    self._kit.monitor.step(f"reports, level {level}", done, len(places))
                twins[at] = self._extracted(at)
            if self._kit.asking.model is None:
                self._made |= twins
                continue
            tasks = [self._task(at, twins[at]) for at in places]
            made = self._kit.asking.all(KIND, tasks)
            self._made |= dict(zip(places, made, strict=True))
        return [self._made[at] for at in range(len(self._communities))]

    def _task(self, at: int, twin: Report) -> Task[Report]:
        statements = self._context(at) or [Statement(twin.summary, twin.chunks)]
        prompt = report_prompt(self._named(at)[:20], statements)
        return Task(prompt, partial(read_report, statements=statements, twin=twin), lambda: twin)

    def _context(self, at: int) -> list[Statement]:
        """What the site says of the community. Where that is too much, reports on its parts stand in their
        place, those on the largest ones first."""
        community = self._communities[at]
        parts = sorted(community.children, key=lambda place: (-self._communities[place].reach, place))
        for replaced in range(len(parts) + 1):
            told = [self._told(place) for place in parts[:replaced]]
            inside = {entity for place in parts[:replaced] for entity in self._communities[place].entities}
            entities = [entity for entity in community.entities if entity not in inside]
            relations = self._outside(community.relations, inside)
            fitting, all_fit = self._fitting(told, self._graph.statements(entities, relations))
            if all_fit:
                return fitting
        return fitting

    def _outside(self, relations: Iterable[int], inside: set[int]) -> Iterator[int]:
        ends = self._graph.ends
        return (
            one for one in relations if int(ends[one][0]) not in inside or int(ends[one][1]) not in inside
        )

    def _fitting(self, first: Sequence[Statement], then: Iterable[Statement]) -> tuple[list[Statement], bool]:
        kept: list[Statement] = []
        room = MOST_INPUT
        for statement in (*first, *then):
            room -= self._kit.asking.estimate(statement.text) + 10
            if room < 0:
                return kept, False
            kept.append(statement)
        return kept, True

    def _told(self, at: int) -> Statement:
        report = self._made[at]
        return Statement(f"{report.title}: {report.summary}", report.chunks)

    def _extracted(self, at: int) -> Report:
        """Without a model: the sentences that the heaviest relations stand in."""
        community = self._communities[at]
        if community.children and len(community.relations) > READ:
            return self._of_parts(at)
        said = self._said(community)
        findings = self._findings(community, said)
        counted: dict[int, int] = {}
        for _, statement in said:
            for chunk in statement.chunks:
                counted[chunk] = counted.get(chunk, 0) + 1
        rest = sorted(counted, key=lambda chunk: (-counted[chunk], chunk))
        chunks = dict.fromkeys(one.chunks[0] for one in findings) | dict.fromkeys(rest)
        if not chunks:  # nothing but names, side by side in a list
            places = (chunk for entity in community.entities for chunk in self._graph.entities[entity].chunks)
            chunks = dict.fromkeys(places)
        summary = " ".join(lexrank([one.text for _, one in said], SUMMARY, self._language(chunks)))
        return self._report(at, summary, findings, chunks)

    def _said(self, community: Community) -> list[tuple[int, Statement]]:
        found: dict[str, tuple[int, Statement]] = {}
        for relation in community.relations[: 2 * READ]:
            statement = self._graph.statement(relation)
            if statement is not None and statement.text:
                found.setdefault(statement.text, (relation, statement))
            if len(found) == READ:
                break
        return list(found.values())

    def _findings(self, community: Community, said: Sequence[tuple[int, Statement]]) -> list[Finding]:
        """The heaviest relations; first those that bring an entity that no other one had."""
        seen: set[int] = set()
        fresh: list[tuple[int, Statement]] = []
        known: list[tuple[int, Statement]] = []
        for relation, statement in said:
            ends = {int(end) for end in self._graph.ends[relation]}
            (fresh if ends - seen else known).append((relation, statement))
            seen |= ends
        return [
            Finding(self._graph.between(relation), statement.text, statement.chunks[:3])
            for relation, statement in [*fresh, *known][:FINDINGS]
        ]

    def _of_parts(self, at: int) -> Report:
        """From the reports on its parts, the weightiest first."""
        parts = [self._made[place] for place in self._communities[at].children]
        parts.sort(key=lambda report: -report.rating)
        findings = list(_in_turn([report.findings for report in parts]))[:MOST_FINDINGS]
        first = dict.fromkeys(one.chunks[0] for one in findings)
        chunks = first | dict.fromkeys(_in_turn([report.chunks for report in parts]))
        summary = " ".join(lexrank([report.summary for report in parts], SUMMARY, self._language(chunks)))
        return self._report(at, summary, findings, chunks)

    def _report(self, at: int, summary: str, findings: Sequence[Finding], chunks: Iterable[int]) -> Report:
        community = self._communities[at]
        rating = 10 * (self._weight(community) / self._heaviest[community.level]) ** 0.5
        names = ", ".join(self._named(at)[:NAMES])
        leads = self._leads.into(community.entities, self._main(at)[:MAIN])
        headed = self._leads.reach(community.entities)
        kept = tuple(dict.fromkeys([*tuple(chunks)[:MOST_CHUNKS], *leads]))
        return Report(names, summary, round(rating, 2), tuple(findings), kept, leads, headed)

    def _named(self, at: int) -> list[str]:
        """The names of the main entities, without those inside others."""
        names: list[str] = []
        for name in (self._graph.entities[entity].name for entity in self._main(at)):
            if not any(name.casefold() in other.casefold() for other in names):
                names.append(name)
        return names

    def _main(self, at: int) -> list[int]:
        """The entities of a community by the weight of their relations in it."""
        if at not in self._mains:
            self._mains[at] = self._by_weight(self._communities[at])
        return self._mains[at]

    def _by_weight(self, community: Community) -> list[int]:
        graph, relations = self._graph, community.relations
        ends, weight = graph.ends[relations].ravel(), np.repeat(graph.weights[relations], 2)
        weights = np.bincount(ends, weight, minlength=len(graph.entities))
        inside = np.asarray(community.entities)
        best: list[int] = inside[np.argsort(-weights[inside], kind="stable")][:40].tolist()
        return best

    def _weight(self, community: Community) -> float:
        return float(self._graph.weights[community.relations].sum()) or 1e-9

    def _language(self, chunks: Iterable[int]) -> str:
        return next((self._graph.chunks[at].language for at in chunks), "")


def _in_turn(lists: Sequence[Sequence[T]]) -> Iterator[T]:
    """The first of each, then the second of each, and so on."""
    for place in range(max(map(len, lists), default=0)):
        yield from (one[place] for one in lists if place < len(one))
