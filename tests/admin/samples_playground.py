"""A run of the playground: two ways that answered, one whose index is missing, one that failed."""

from datetime import UTC, datetime

from sqlalchemy import insert

from server.playground.store import DONE, FAILED, runs, variants

RUN = "sample-run"
PAGES = {"playground": "/admin/playground", "playground_filled": f"/admin/playground?run={RUN}",
         "playground_run": f"/admin/playground/{RUN}"}  # fmt: skip
DELIVERY = "https://lantern.example/delivery"
CITATION = {
    "number": 1,
    "url": DELIVERY,
    "title": "Delivery",
    "quote": "Parcels to islands take five working days.",
    "link": f"{DELIVERY}#:~:text=Parcels%20to%20islands",
}
ANSWER = {
    "outcome": "answered",
    "text": "Parcels to islands take five working days. [1]",
    "citations": [CITATION],
    "suggestions": [],
    "pages": [],
    "strategy": "hybrid",
    "flow": "direct",
    "model": "gpt-4o-mini",
    "timings_ms": {
        "guard": 0.2,
        "rewrite": 180.0,
        "retrieve": 31.4,
        "filter": 12.0,
        "write": 820.5,
        "verify": 1.2,
    },
}
CANDIDATES = [
    {"chunk": "a", "url": DELIVERY, "heading": "Delivery › Delivery times", "score": 0.574, "text": CITATION["quote"],
     "scores": {"dense": 0.828, "words": 11.967, "coverage": 0.68, "title": 0.0, "heading": 0.0}},
    {"chunk": "b", "url": "https://lantern.example/returns", "heading": "Returns › How to return a lamp", "score": 0.21,
     "scores": {"dense": 0.3, "coverage": 0.0}, "why": "a summary of its page fits", "text": "Ask for a label."},
]  # fmt: skip
TRACE = {
    "query": "How long do parcels to islands take?",
    "route": "lookup",
    "settings": {"Passages asked for": "10", "Joined by": "weighted", "Second look": "features"},
    "candidates": CANDIDATES,
    "floor": {"answerability": 0.93, "floor": 0.3},
    "kept": ["a"],
    "claims": [
        {"text": "Parcels to islands take five working days.", "support": 1.0, "kept": True, "why": "",
         "sources": ["a"], "citations": [1]},
        {"text": "Members pay only 1.00 EUR.", "support": 0.0, "kept": False, "sources": ["a"], "citations": [],
         "why": "'1.00 EUR' is not on the cited page"},
    ],
    "support": 1.0,
    "nodes": [{"node": "retrieve", "query": "parcels", "found": 2, "ms": 31.0}, {"node": "after retrieve", "next": "end"}],
    "usage": {"calls": 2, "tokens_in": 1204, "tokens_out": 61, "cost": 0.00122},
    "prompts": [
        {"step": "rewrite", "system": "You rewrite the last question.", "user": "<question>And to islands?</question>",
         "reply": '{"question": "How long do parcels to islands take?"}', "ms": 180, "tokens": 210, "cost": 0.0002},
        {"step": "write", "system": "You answer visitors of the website Lantern Shop.", "user": "Question: …",
         "reply": '{"answer": "Parcels to islands take five working days. [1]"}', "ms": 820, "tokens": 1055},
    ],
}  # fmt: skip
TYPED = {
    "site": "lantern",
    "question": "How long do parcels to islands take?",
    "history": "Q: How long do parcels take?\nA: Two working days.",
    "strategy_1": "dense",
    "writer_1": "embedded",
    "strategy_2": "graphrag",
    "flow_3": "corrective",
    "floor": "0.3",
    "tone": "friendly",
    "tune_hyde": "on",
}


def fill(runtime):
    asked = {
        "typed": TYPED,
        "ways": [
            {"strategy": "hybrid", "flow": "direct", "writer": ""},
            {"strategy": "dense", "flow": "direct", "writer": "embedded"},
            {"strategy": "graphrag", "flow": "direct", "writer": ""},
            {"strategy": "hybrid", "flow": "corrective", "writer": ""},
        ],
    }
    used = {"calls": 2, "tokens_in": 1204, "tokens_out": 61, "cost": 0.00122}
    shown = f"### [Delivery]({DELIVERY})\n\n**Parcels take two working days.** They come by post. [1]"
    quoted = {**ANSWER, "model": "embedded", "text": shown}
    plain = {"query": TRACE["query"], "candidates": CANDIDATES[:1], "kept": ["a"], "floor": TRACE["floor"]}
    results = [
        (DONE, {"answer": {**ANSWER, "trace": TRACE}, "took_ms": 1100.0, "used": used, "incidents": []}),
        (DONE, {"answer": {**quoted, "trace": plain}, "took_ms": 90.0, "used": {}, "incidents": []}),
        (FAILED, {"problem": "its index is not built for this site", "used": {}, "incidents": [],
                  "plan": {"calls": 34, "tokens_in": 70_000, "tokens_out": 4_293, "cost": 0.1253, "remembered": 0}}),
        (FAILED, {"problem": "it took longer than 120 s, which PLAYGROUND_SECONDS allows", "used": used,
                  "incidents": ["the provider limits the rate of calls"], "prompts": TRACE["prompts"][:1]}),
    ]  # fmt: skip
    run = {"id": RUN, "site_id": "lantern", "asked_at": datetime.now(UTC), "asked_by": "ada@example.com"}
    with runtime.database.begin() as connection:
        connection.execute(insert(runs).values(**run, question=TYPED["question"], asked=asked))
        rows = [
            {"run_id": RUN, "number": number, "state": state, "result": result}
            for number, (state, result) in enumerate(results)
        ]
        connection.execute(insert(variants), rows)
