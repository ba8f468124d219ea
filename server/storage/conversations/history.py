"""Stores the last turns of each conversation, for follow-up questions, and erases visitors."""

import json
from dataclasses import asdict
from pathlib import Path

from diskcache import Cache as Folder

from server.domain.protocols import Cache, History
from server.domain.question import Turn
from server.storage.columns import storable
from server.storage.conversations.conversations import ConversationStore
from server.storage.shared_cache import DiskFolder, RedisServer, stream_key


class DiskHistory:
    """Implements History in a folder, for all processes of one machine."""

    def __init__(self, folder: str | Path, turns: int, minutes: float) -> None:
        self._folder = DiskFolder(folder)
        self._turns = turns
        self._seconds = minutes * 60

    def turns(self, conversation_id: str) -> tuple[Turn, ...]:
        """Return the turns of a conversation, oldest first; () for an unknown or expired one."""
        stored = self._folder.run(lambda cache: cache.get(storable(conversation_id)))
        return () if stored is None else tuple(map(_turn, json.loads(stored)))

    def add(self, conversation_id: str, turn: Turn) -> None:
        """Append a turn and restart the conversation's time to live."""
        if self._turns:
            self._folder.run(lambda cache: self._append(cache, storable(conversation_id), _text(turn)))

    def forget(self, conversation_id: str) -> None:
        """Drop the conversation. An unknown one is ignored."""
        self._folder.run(lambda cache: cache.delete(storable(conversation_id)))

    def close(self) -> None:
        """Close the folder."""
        self._folder.close()

    def _append(self, cache: Folder, key: str, turn: str) -> None:
        # The transaction prevents another process from adding between reading and writing.
        with cache.transact():
            stored = cache.get(key)
            turns = [*(json.loads(stored) if stored else []), turn]
            cache.set(key, json.dumps(turns[-self._turns :]), expire=self._seconds)


class RedisHistory:
    """Implements History in Redis, for any number of machines."""

    def __init__(self, url: str, turns: int, minutes: float) -> None:
        self._server = RedisServer(url)
        self._turns = turns
        self._milliseconds = max(1, round(minutes * 60_000))

    def turns(self, conversation_id: str) -> tuple[Turn, ...]:
        """Return the turns of a conversation, oldest first; () for an unknown or expired one."""
        with self._server.client() as client:
            return tuple(_turn(text) for text in client.lrange(_key(conversation_id), 0, -1))

    def add(self, conversation_id: str, turn: Turn) -> None:
        """Append a turn and restart the conversation's time to live."""
        if not self._turns:
            return
        key = _key(conversation_id)
        with self._server.client() as client, client.pipeline(transaction=True) as pipeline:
            pipeline.rpush(key, _text(turn))
            pipeline.ltrim(key, -self._turns, -1)
            pipeline.pexpire(key, self._milliseconds)
            pipeline.execute()

    def forget(self, conversation_id: str) -> None:
        """Drop the conversation. An unknown one is ignored."""
        with self._server.client() as client:
            client.delete(_key(conversation_id))

    def close(self) -> None:
        """Close every connection."""
        self._server.close()


def _key(conversation_id: str) -> str:
    return f"docent:turns:{storable(conversation_id)}"


def _text(turn: Turn) -> str:
    return json.dumps(asdict(turn))


def _turn(text: str | bytes) -> Turn:
    return Turn(**json.loads(text))


def erase_visitor(
    conversations: ConversationStore, history: History, cache: Cache, site_id: str, visitor_id: str
) -> int:
    """Delete everything a visitor wrote on a site. Return the number of conversations."""
    erased = conversations.erase_visitor(site_id, visitor_id)
    for id in erased.conversations:
        history.forget(id)
    for id in erased.messages:
        cache.delete(stream_key(id))
    return len(erased.conversations)
