"""The shell's commands: a new one is one new file and one new row.

Each module has `HELP` (one line), `arguments(parser)` and `run(options, settings) -> exit code`.
"""

from __future__ import annotations

COMMANDS = {
    "run": "server.commands.run",
    "crawl": "server.commands.crawl",
    "crawls": "server.commands.crawls",
    "ask": "server.commands.ask",
    "playground": "server.commands.playground",
    "evaluate": "server.commands.evaluate",
    "testset": "server.commands.testset",
    "strategies": "server.commands.strategies",
    "sites": "server.commands.sites",
    "scope": "server.commands.scope",
    "sources": "server.commands.sources",
    "curated": "server.commands.curated",
    "operators": "server.commands.operators",
    "backup": "server.commands.backup",
    "restore": "server.commands.restore",
    "doctor": "server.commands.doctor",
    "settings": "server.commands.settings",
    "prepare": "server.commands.prepare",
    "web": "server.commands.web",
    "worker": "server.commands.worker",
}
