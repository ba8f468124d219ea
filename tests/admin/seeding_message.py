"""One question of the seeded database, with its answer."""

import json
from dataclasses import asdict
from functools import cache

from server.domain.answer import Citation
from server.storage.columns import storable
from server.storage.conversations.conversations import within
from server.storage.conversations.search import words_of
from tests.admin.seeding_words import ANSWERS, ASPECTS, QUESTIONS, THINGS

OUTCOMES = {"answered": 71, "refused": 14, "curated": 7, "clarify": 4, "handoff": 3, "limited": 1}
STRATEGIES = {"hybrid": 70, "auto": 18, "small-to-big": 12}


def message(pick, id, pages, number, turn):
    """(row of messages, rows of cited, words to search by) of one question."""
    conversation, language = turn["conversation"], turn["language"]
    site_id = conversation["site_id"]
    page = int(pick.random() ** 2 * len(pages))
    outcome = drawn(OUTCOMES, pick.random())
    at = moment(turn["asked_at"])
    question = pick.choice(QUESTIONS[language]).format(thing(page), aspect(page))
    by_model = outcome == "answered" and pick.random() < 0.55
    text, citations = _answer(outcome, language, pages[page], pages[(page + 7) % len(pages)], number % 3 == 0)
    took = pick.lognormvariate(7.4, 0.5) if by_model else pick.lognormvariate(3.6, 0.6)
    took = round(took * 6, 2) if pick.random() < 0.01 else round(took, 2)
    support = round(min(1.0, max(0.05, pick.gauss(0.78, 0.14))), 3) if citations else None
    tokens = pick.randrange(900, 4000) if by_model else 0
    thumb = pick.random()
    row = {
        "number": number,
        "id": id,
        "conversation_id": conversation["id"],
        "visitor": conversation["visitor_id"],
        "site_id": site_id,
        "asked_at": at,
        "question": question,
        "query": question,
        "language": language,
        "outcome": outcome,
        "text": text,
        "citations": _cited_json(citations),
        "suggestions": "[]",
        "pages": "[]" if citations else json.dumps(pages[page : page + 3]),
        "strategy": drawn(STRATEGIES, pick.random()),
        "flow": "direct",
        "model": "gpt-4o-mini" if by_model else "embedded",
        "timings_ms": f'{{"guard":0.1,"retrieve":{0.3 * took:.2f},"write":{0.7 * took - 0.1:.2f}}}',
        "trace": _trace(pages[page][0], tokens, support),
        "took_ms": took,
        "within_ms": within(took),
        "cost": round(tokens * 2e-7, 7),
        "tokens": tokens,
        "turn": turn["turn"],
        "support": support,
        "helpful": None if thumb > 0.11 else int(thumb < (0.085 if outcome != "refused" else 0.02)),
    }
    cited = [(id, one.number, site_id, one.url, one.quote, at, number) for one in citations]
    return row, cited, f"{_words(question)} {_words(text)}"


def thing(page):
    return THINGS[page % len(THINGS)]


def aspect(page):
    return ASPECTS[page // len(THINGS) % len(ASPECTS)]


def moment(at):
    """As SQLite has it."""
    return at.replace(tzinfo=None).isoformat(" ", "microseconds")


@cache
def _answer(outcome, language, page, other, both):
    """(text, citations)"""
    sentences = [sentence.format(page[1]) for sentence in ANSWERS[language]]
    if outcome in ("refused", "clarify", "handoff", "limited"):
        return f"{sentences[-1]}", ()
    cited = [(page, sentences[0])] + ([(other, sentences[1])] if both else [])
    citations = tuple(
        Citation(number, url, title, quote, f"{url}#:~:text={quote[:20]}")
        for number, ((url, title), quote) in enumerate(cited, start=1)
    )
    text = " ".join(f"{quote} [{number}]" for number, (_, quote) in enumerate(cited, start=1))
    return text, citations if outcome == "answered" else ()


@cache
def _cited_json(citations):
    return json.dumps([asdict(one) for one in citations], ensure_ascii=False)


@cache
def _words(text):
    return " ".join(words_of(storable(text)))


def drawn(weights, chance):
    """One of the names, each as likely as its weight of a hundred says."""
    for name, weight in weights.items():
        chance -= weight / 100
        if chance < 0:
            return name
    return name


@cache
def _candidates(url):
    scores = [(rank, 0.9 / rank, 9.1 / rank) for rank in range(1, 7)]
    return ",".join(
        f'{{"chunk":"c{rank}","url":"{url}","heading":"","score":{score:.4f},"words":{words:.3f}}}'
        for rank, score, words in scores
    )


def _trace(url, tokens, support):
    used = f'"usage":{{"calls":1,"tokens_in":{tokens - 200},"tokens_out":200,"cost":{tokens * 2e-7:.7f}}},'
    supported = f'"support":{support},' if support is not None else ""
    return f'{{"route":"lookup",{used if tokens else ""}{supported}"candidates":[{_candidates(url)}]}}'
