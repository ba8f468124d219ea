"""A real installation whose answers are scripted."""

from dataclasses import replace

from server.answering.chat import Chat
from server.runtime.runtime import open_runtime


def open_scripted(settings, pipeline):
    """The runtime of `settings` with `pipeline` in place of every site's own."""
    runtime = open_runtime(settings)
    runtime.engine.pipeline = lambda site: pipeline
    return replace(
        runtime, chat=Chat(runtime.dialogue.conversations, runtime.engine.history, runtime.engine.pipeline)
    )
