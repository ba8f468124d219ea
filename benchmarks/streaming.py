"""500 visitors stream at once while the model takes 2 s: errors, and what the server adds to the 2 s.

    python -m benchmarks.streaming [--visitors 500] [--words 8] [--seconds 2] [--arrive 0]

All visitors ask at the same moment, over new connections, or evenly spread over --arrive seconds. The
model is scripted (a piece of the answer every --seconds / --words); everything else is the real server
with its default two processes of 400 threads: token, limits, conversation, storage, streaming.
Bar (design.md): no errors, p95 overhead under 0.5 s on 2 cores.
"""

from __future__ import annotations

import asyncio
import json

from benchmarks.command_line import argument_parser
from benchmarks.processes import cpu_seconds
from benchmarks.web_load import Asked, Connection, percentile, tokens
from benchmarks.web_server import scripted_server

BAR_S = 0.5


async def visit(address: str, known: list[str], arrive_s: float) -> list[Asked]:
    """Every visitor asks once, over a new connection."""

    async def ask(place: int, token: str) -> Asked:
        await asyncio.sleep(arrive_s * place / len(known))
        connection = Connection(address)
        try:
            return await connection.ask("/api/v1/chat", {"message": "How long?", "stream": True}, token)
        except OSError as error:
            return Asked(0, 0, 0, 0, str(error))
        finally:
            connection.close()

    return await asyncio.gather(*(ask(place, token) for place, token in enumerate(known)))


def is_whole(asked: Asked, words: int) -> bool:
    """Whether every event came, once and in order."""
    ids = [line.rpartition(":")[2] for line in asked.text.split("\n") if line.startswith("id: ")]
    whole = ids == [str(number) for number in range(1, words + 3)]
    return asked.status == 200 and whole and "event: done" in asked.text


def main() -> None:
    parser = argument_parser(__doc__)
    parser.add_argument("--visitors", type=int, default=500)
    parser.add_argument("--words", type=int, default=8)
    parser.add_argument("--arrive", type=float, default=0.0)
    parser.add_argument("--seconds", type=float, default=2.0)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--threads", type=int, default=400)
    parser.add_argument("--rounds", type=int, default=3)
    given = parser.parse_args()
    options = (
        f"--workers={given.workers}",
        f"--threads={given.threads}",
        f"--words={given.words}",
        f"--pause={given.seconds / given.words}",
    )
    with scripted_server(*options) as address:
        for number in range(given.rounds):
            known = asyncio.run(tokens(address, "shop", given.visitors))
            before = cpu_seconds(address)
            asked = asyncio.run(visit(address, known, given.arrive))
            spent = cpu_seconds(address) - before
            errors = [one for one in asked if not is_whole(one, given.words)]
            added = [one.seconds - given.seconds for one in asked if one.status == 200] or [float("nan")]
            print(
                json.dumps(
                    {
                        "round": number + 1,
                        "visitors": given.visitors,
                        "errors": len(errors),
                        "overhead_s": {str(p): round(percentile(added, p), 3) for p in (0.5, 0.95, 0.99)},
                        "first_event_s": round(
                            percentile([one.first_byte - one.started for one in asked], 0.95), 3
                        ),
                        "server_cpu_s": round(spent, 2),
                        "bar_met": not errors and percentile(added, 0.95) < BAR_S,
                    }
                )
            )
            for error in errors[:3]:
                print("  ", error.status, error.text[-300:])


if __name__ == "__main__":
    main()
