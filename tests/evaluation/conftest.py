"""A small corpus in BEIR form, and services over a folder that keeps it."""

import json
from dataclasses import dataclass, field

import pytest

from server.domain.derived import BuildStopped
from server.runtime.runtime import open_runtime
from server.settings.reading import load_settings
from tests.websites import crawl_shop

DOCUMENTS = (
    ("delivery", "Delivery", "Parcels inside the country arrive within two working days.\n\nParcels to islands take five "
     "working days. Delivery costs 4.50 EUR for each order."),
    ("returns/how", "Returns", "How to return a lamp:\n- Write to returns@lantern.example and ask for a label.\n"
     "- Put the lamp into its box."),
    ("refunds", "Refunds", "Refunds are paid within 14 days after the lamp has arrived at the warehouse."),
    ("driver", "Lamp driver", "Run the installer on Linux:\n```\nsh lamp-driver.sh\n  --quiet\n```"),
    ("prices", "Prices", "Glow Mini\t19.90 EUR\nGlow Maxi\t49.90 EUR"),
    ("warranty", "Warranty", "The warranty of every lamp lasts three years from the day of the purchase."),
    ("bulbs", "Bulbs", "A bulb of seven watts fits every lantern. Bulbs are not part of the warranty."),
    ("cleaning", "Cleaning", "Wipe the glass with a dry cloth. Never put a lantern under water."),
    ("contact", "Contact", "Call us on weekdays between nine and five. Letters reach us at Harbour Street."),
    ("garden", "Garden lamps", "Garden lamps endure rain and frost. Their cable is ten metres long."),
)  # fmt: skip
QUERIES = (
    {"_id": "islands", "text": "How long do parcels to islands take?", "answer": "five working days"},
    {"_id": "refund", "text": "When are refunds paid?", "type": "howto",
     "answer": "Refunds are paid within 14 days after the lamp has arrived at the warehouse."},
    {"_id": "return", "text": "How do I return a lamp?"},
    {"_id": "both", "text": "How long is the warranty, and are bulbs part of it?",
     "answer": "The warranty lasts three years. Bulbs are not part of the warranty."},
    {"_id": "train", "text": "When does the next train to Hamburg leave?", "answerability": ["UNANSWERABLE"]},
    {"_id": "unknown", "text": "Do you have shops abroad?"},
    {"_id": "then", "text": "And to islands?", "history": [
        {"role": "user", "text": "How long do parcels take?"}, {"role": "agent", "text": "Two working days."}]},
)  # fmt: skip
QRELS = (
    ("islands", "delivery", 1), ("refund", "refunds", 1), ("return", "returns/how", 1), ("both", "warranty", 1),
    ("both", "bulbs", 1), ("then", "delivery", 1), ("then", "prices", 0),
)  # fmt: skip


def write_corpus(folder, documents=DOCUMENTS, queries=QUERIES, qrels=QRELS):
    folder.mkdir(exist_ok=True)
    rows = [{"_id": id, "title": title, "text": text} for id, title, text in documents]
    (folder / "corpus.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    (folder / "queries.jsonl").write_text("\n".join(map(json.dumps, queries)), encoding="utf-8")
    lines = ["query-id\tcorpus-id\tscore", *("\t".join(map(str, row)) for row in qrels)]
    (folder / "qrels.tsv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return folder


@pytest.fixture
def corpus_folder(tmp_path):
    return write_corpus(tmp_path / "Lantern docs")


@pytest.fixture(scope="module")
def data(tmp_path_factory, model_cache):
    """A data folder that the tests of a file share."""
    folder = tmp_path_factory.mktemp("data")
    (folder / "models").symlink_to(model_cache)
    return folder


@pytest.fixture
def runtime(data):
    made = open_runtime(load_settings({"DATA_DIR": str(data)}))
    yield made
    made.close()


@dataclass
class Watch:
    """A monitor that remembers its steps, and stops before the n-th of a name."""

    stop_at: tuple[str, int] = ("", 0)
    steps: list = field(default_factory=list)

    def step(self, name, done, total):
        if (name, done) == self.stop_at:
            raise BuildStopped("enough")
        self.steps.append((name, done, total))

    def spent(self, used):
        pass


@pytest.fixture(scope="module")
def indexed_shop(data):
    """The data folder, with the crawled shop in it."""
    crawl_shop(data)
    return data
