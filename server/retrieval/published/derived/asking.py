"""Asking a chat model many things while an index is built: at once, remembered, counted, and replaceable.

Every question has a twin that needs no model. The twin answers where there is no model, and where a reply
cannot be read; such replies are counted. A model that does not answer at all ends the build: what it said
before is kept, so the next build goes on from there.
"""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Generic, TypeVar

from server.domain.chunk import Chunk
from server.domain.derived import Monitor, Plan, Unwatched, record_id
from server.domain.fencing import attribute, fenced
from server.domain.protocols import ChatModel, Prompt
from server.domain.spending import Spending, Used, charged
from server.storage.content.derived import ModelReplies

T = TypeVar("T")

AT_ONCE = 8
"""Calls under way; the model's own limit holds in addition to it."""
Estimate = Callable[[str], int]


@dataclass(frozen=True, slots=True)
class ModelTask(Generic[T]):
    """One thing to ask."""

    prompt: Prompt
    parse: Callable[[str], T]
    """Reads the reply; raises ValueError for one that cannot be used."""
    without_model: Callable[[], T]
    """The twin."""


@dataclass
class Tally:
    """What one build asked."""

    calls: int = 0
    remembered: int = 0
    unread: int = 0
    """Replies that could not be used, so that the twin answered."""
    tokens_in: int = 0
    tokens_out: int = 0
    cost: float = 0.0

    def plan(self) -> Plan:
        """Return these counts as a Plan."""
        return Plan(self.calls, self.tokens_in, self.tokens_out, self.cost, self.remembered)


@dataclass
class ModelTasks:
    """The questions of one build. With `trial` nothing is asked: what would be is counted instead."""

    model: ChatModel | None
    replies: ModelReplies | None
    estimate: Estimate
    """Tokens of a text, about."""
    monitor: Monitor = field(default_factory=Unwatched)
    trial: bool = False
    price: tuple[float, float] = (0.0, 0.0)
    """Money per million tokens sent, and received."""
    charge: Callable[[], Spending] = lambda: Spending("")
    """Makes what a call counts for."""
    tally: Tally = field(default_factory=Tally)
    _kinds: set[str] = field(default_factory=set)
    _started: datetime = field(default_factory=lambda: datetime.now(UTC))

    def all(self, kind: str, tasks: Sequence[ModelTask[T]]) -> list[T]:
        """Return what came of each, in order. `kind` names them for the monitor and in the store of replies.

        Raises ModelError when the model does not answer, BuildStopped.
        """
        self._kinds.add(kind)
        if self.model is None:
            return [task.without_model() for task in tasks]
        keys = [self._key(task.prompt) for task in tasks]
        known = self.replies.known(list(dict.fromkeys(keys))) if self.replies else {}
        missing = {key: task.prompt for key, task in zip(keys, tasks, strict=True) if key not in known}
        self.tally.remembered += len(set(keys)) - len(missing)
        if self.trial:
            for prompt in missing.values():
                self._count(prompt, prompt.max_tokens)
        else:
            known |= self._ask(kind, missing)
        return [
            self._read(task, known[key]) if key in known else task.without_model()
            for key, task in zip(keys, tasks, strict=True)
        ]

    def forget_unused(self) -> None:
        """Forgets replies of the kinds asked here that this build had no use for."""
        if self.replies and self.model and not self.trial and self._kinds:
            self.replies.drop_unused(self._started, sorted(self._kinds))

    def _ask(self, kind: str, missing: dict[str, Prompt]) -> dict[str, str]:
        found: dict[str, str] = {}
        self.monitor.step(kind, 0, len(missing))
        with ThreadPoolExecutor(AT_ONCE, thread_name_prefix="asking") as pool:
            futures: dict[str, Future[tuple[str, Used]]] = {
                key: pool.submit(self._complete, prompt) for key, prompt in missing.items()
            }
            try:
                for done, (key, future) in enumerate(futures.items()):
                    self.monitor.step(kind, done, len(missing))
                    found[key], used = future.result()
                    if self.replies:
                        self.replies.keep(key, kind, found[key])
                    self.monitor.spent(self._count(missing[key], self.estimate(found[key]), used))
            except BaseException:
                self._keep_what_came(kind, futures, found)
                raise
        return found

    def _keep_what_came(
        self, kind: str, futures: dict[str, Future[tuple[str, Used]]], found: dict[str, str]
    ) -> None:
        """The calls under way end and are paid for, so their replies are kept too."""
        waiting = {key: future for key, future in futures.items() if key not in found}
        under_way = {key: future for key, future in waiting.items() if not future.cancel()}
        for key, future in under_way.items():
            if future.exception() is None and self.replies:
                self.replies.keep(key, kind, future.result()[0])

    def _complete(self, prompt: Prompt) -> tuple[str, Used]:
        """The reply, and what the provider says that it took; nothing when calls are not metered."""
        assert self.model is not None
        spending = self.charge()
        with charged(spending):
            return self.model.complete(prompt), spending.used

    def _read(self, task: ModelTask[T], reply: str) -> T:
        try:
            return task.parse(reply)
        except ValueError:
            self.tally.unread += 1
            return task.without_model()

    def _count(self, prompt: Prompt, received: int, metered: Used | None = None) -> Used:
        used = metered
        if not used or not used.calls:
            sent = self.estimate(prompt.system + prompt.user)
            cost = (sent * self.price[0] + received * self.price[1]) / 1_000_000
            used = Used(1, sent, received, cost)
        self.tally.calls += 1
        self.tally.tokens_in += used.tokens_in
        self.tally.tokens_out += used.tokens_out
        self.tally.cost += used.cost
        return used

    def _key(self, prompt: Prompt) -> str:
        assert self.model is not None
        return record_id(
            self.model.name, prompt.system, prompt.user, str(prompt.max_tokens), str(prompt.json)
        )


def as_data(values: Mapping[str, object]) -> str:
    """Return what pages and visitors say as one JSON object for a prompt. No text in it can end before its
    quotation mark does, so it stays data."""
    return json.dumps(values, ensure_ascii=False)


def reply_object(reply: str) -> dict[str, object]:
    """Return the JSON object in a reply, whatever surrounds it. Raises ValueError where there is none."""
    try:
        value = json.loads(reply[reply.find("{") : reply.rfind("}") + 1])
    except RecursionError:
        raise ValueError("the reply is nested too deeply") from None
    if not isinstance(value, dict):
        raise ValueError("no JSON object in the reply")
    return value


def reply_list(reply: str, name: str) -> list[object]:
    """Return the list `name` of the object in a reply. Raises ValueError where there is none."""
    value = reply_object(reply).get(name)
    if not isinstance(value, list):
        raise ValueError(f"no list of {name} in the reply")
    return value


def reply_text(reply: str, name: str) -> str:
    """Return the text `name` of the object in a reply, on one line. Raises ValueError where it is empty."""
    value = reply_object(reply).get(name)
    if not isinstance(value, str) or not value.strip():
        raise ValueError(f"no {name} in the reply")
    return " ".join(value.split())


def tagged(name: str, chunk: Chunk, most: int) -> str:
    """Return the beginning of a chunk between tags, under its heading; nothing in it ends the tags."""
    text = fenced(chunk.text[:most]).replace(f"<{name}", f"<\u200b{name}")
    return f'<{name} heading="{attribute(chunk.heading)}">\n{text}\n</{name}>'


def shortened(text: str, most: int) -> str:
    """Return at most so many characters, ending with a whole word where there is one."""
    if len(text) <= most:
        return text
    return re.sub(r"\s+\S*$", "", text[:most]) or text[:most]
