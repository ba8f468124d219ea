"""What one answer costs and how many a second there are, without the time of any model.

    python -m benchmarks.chat [--clients 1 8 32] [--questions 1000] [--stream]
    python -m benchmarks.chat --address http://127.0.0.1:8000 --site docs "How do I embed the widget?"

Without --address the answers are scripted and take no time: what is measured is our own part (token,
limits, conversation, storage, serialisation). With --address a running server answers for real; its
VISITOR_LIMIT and ADDRESS_LIMIT must be high enough.
"""

from __future__ import annotations

import asyncio
import json
import time
from contextlib import nullcontext

from benchmarks.command_line import argument_parser
from benchmarks.processes import cpu_seconds
from benchmarks.web_load import Asked, Connection, percentile, tokens
from benchmarks.web_server import scripted_server


async def ask_all(address: str, site: str, bodies: list[dict], clients: int) -> list[Asked]:
    """Every client asks one question after the other over one connection."""
    known = await tokens(address, site, clients)
    left = iter(bodies)
    answers = []

    async def client(token: str) -> None:
        connection = Connection(address)
        for body in left:
            answers.append(await connection.ask("/api/v1/chat", body, token))
        connection.close()

    await asyncio.gather(*map(client, known))
    return answers


def measure(address: str, site: str, bodies: list[dict], clients: int) -> dict:
    """Throughput, latency, errors and processor time of one round."""
    asyncio.run(ask_all(address, site, bodies[: 4 * clients], clients))
    before, began = cpu_seconds(address), time.perf_counter()
    answers = asyncio.run(ask_all(address, site, bodies, clients))
    spent, lasted = cpu_seconds(address) - before, time.perf_counter() - began
    seconds = [answer.seconds for answer in answers]
    return {
        "clients": clients,
        "answers_per_s": round(len(answers) / lasted, 1),
        "latency_ms": {str(p): round(percentile(seconds, p) * 1000, 1) for p in (0.5, 0.95, 0.99)},
        "errors": sum(answer.status != 200 or '"answer"' not in answer.text for answer in answers),
        "server_cpu_ms_per_answer": round(spent / len(answers) * 1000, 2),
    }


def main() -> None:
    parser = argument_parser(__doc__)
    parser.add_argument("ask", nargs="*", default=["How long does delivery take?"], help="questions, in turn")
    parser.add_argument("--address", help="of a running server")
    parser.add_argument("--site", default="shop")
    parser.add_argument("--clients", type=int, nargs="+", default=[1, 8, 32])
    parser.add_argument("--questions", type=int, default=1000, help="of each round")
    parser.add_argument("--stream", action="store_true")
    given = parser.parse_args()
    bodies = [
        {"message": given.ask[n % len(given.ask)], "stream": given.stream} for n in range(given.questions)
    ]
    server = nullcontext(given.address) if given.address else scripted_server("--words=8", "--pause=0")
    with server as address:
        for clients in given.clients:
            print(json.dumps(measure(address, given.site, bodies, clients)))


if __name__ == "__main__":
    main()
