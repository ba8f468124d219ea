"""The commands of the shell. `server.commands.NAME` has what the command NAME does.

Each module has `HELP` (one line), `arguments(parser)` and `run(options, settings) -> exit code`.
"""

COMMANDS = (
    "run", "crawl", "crawls", "ask", "playground", "evaluate", "testset", "strategies", "sites", "scope",
    "sources", "curated", "operators", "audit", "keys", "backup", "restore", "packages", "doctor", "settings",
    "prepare", "web", "worker",
)  # fmt: skip
