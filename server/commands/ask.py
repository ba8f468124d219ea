"""`python -m server ask --site ID "question"`: the visitor's answer in the shell."""

import argparse
import json
import sys
from contextlib import closing

from server.answering.chat import response
from server.domain.answer import Answer, Delta
from server.errors import StartError
from server.runtime.runtime import Runtime, open_runtime
from server.settings import Settings

HELP = "ask a site a question and print the cited answer"


def arguments(parser: argparse.ArgumentParser) -> None:
    """The site, the question, and the conversation to go on with."""
    parser.add_argument("question", help="the question, in any language")
    parser.add_argument("--site", default="", help="id of the site; needed when there are several")
    parser.add_argument(
        "--conversation", help="conversation_id of an earlier answer, for a follow-up question"
    )
    parser.add_argument("--json", action="store_true", help="print the whole answer as the API returns it")


def run(options: argparse.Namespace, settings: Settings) -> int:
    """Exit code 0 for any outcome, a refusal too: that is an answer."""
    if not options.question.strip():
        raise StartError("the question is empty; write it in quotation marks")
    with closing(open_runtime(settings)) as runtime:
        site = runtime.stores.sites.get(options.site or _only_site(runtime))
        exchange = runtime.chat.ask(
            site, options.question, visitor_id="shell", conversation_id=options.conversation
        )
        streamed = ""
        for event in exchange.events():
            if isinstance(event, Delta) and not options.json:
                streamed += event.text
                print(event.text, end="", flush=True)
            elif isinstance(event, Answer):
                _print(exchange.conversation_id, exchange.message_id, event, streamed, as_json=options.json)
    return 0


def _print(conversation_id: str, message_id: str, answer: Answer, streamed: str, *, as_json: bool) -> None:
    if as_json:
        whole = response(conversation_id, message_id, answer)
        print(json.dumps(whole, ensure_ascii=False, indent=2))
        return
    if streamed != answer.text:
        print(("\n\n" if streamed else "") + answer.text, end="")
    print()
    for citation in answer.citations:
        print(f"\n[{citation.number}] {citation.title}\n    “{citation.quote}”\n    {citation.link}")
    spent = sum(answer.timings_ms.values())
    print(
        f"\n{answer.outcome} by {answer.model} in {spent:.0f} ms; conversation {conversation_id}",
        file=sys.stderr,
    )


def _only_site(runtime: Runtime) -> str:
    sites = runtime.stores.sites.all()
    if len(sites) == 1:
        return sites[0].id
    if not sites:
        raise StartError("there is no site yet; add one: python -m server crawl https://example.com")
    raise StartError(f"say which site: --site {' | '.join(site.id for site in sites)}")
