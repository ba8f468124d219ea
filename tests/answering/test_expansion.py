import json
import threading

import pytest

from server.answering.understanding.expansion import (
    MOST,
    Expansion,
    ExpansionStep,
    Feedback,
    KeywordVariants,
    ModelExpander,
    StepBack,
    SubQuestions,
    Task,
)
from server.domain.chunk import Chunk, ScoredChunk
from server.domain.question import Query
from server.retrieval.question_kinds import compares, parts_of


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("What is the difference between char and varchar?", ["char", "varchar"]),
        ("GIN vs GiST for full text search", ["GIN", "GiST for full text search"]),
        ("How does pg_dump differ from pg_dumpall?", ["pg_dump", "pg_dumpall"]),
        ("Was ist der Unterschied zwischen Storno und Rückgabe?", ["Storno", "Rückgabe"]),
        ("Quelle est la différence entre char et text ?", ["char", "text"]),
        ("¿Qué diferencia hay entre enviar y recoger?", ["enviar", "recoger"]),
        ("Чем возврат отличается от обмена?", ["возврат", "обмена"]),
        ("红茶和绿茶有什么区别？", ["红茶", "绿茶"]),
        ("apt と aptitude の違いは？", ["apt", "aptitude"]),
        ("환불과 교환의 차이가 뭐예요?", ["환불", "교환"]),
        (
            "How do I return a lamp? And who pays the postage?",
            ["How do I return a lamp?", "And who pays the postage?"],
        ),
        ("how do I create a role and how can I delete it", ["how do I create a role", "how can I delete it"]),
        ("How do I return a lamp and a shade?", []),
        ("What does delivery cost?", []),
    ],
)
def test_a_question_is_taken_apart_only_where_it_asks_for_several_things(text, parts):
    assert parts_of(text) == parts


def chunk(name, text="Some text."):
    return Chunk(name, f"https://lantern.example/{name}", name, (), text, 0, "en")


class Shelf:
    """A strategy that knows what each query finds, and remembers what it was asked."""

    name = "shelf"

    def __init__(self, **found):
        self.found = {text.replace("_", " "): names for text, names in found.items()}
        self.asked = []
        self._lock = threading.Lock()

    def index(self, changes): ...

    def forget(self, ids): ...

    def retrieve(self, query, limit):
        with self._lock:
            self.asked.append(query)
        names = self.found.get(query.text, [])[:limit]
        return [ScoredChunk(chunk(name), 1 - place / 10) for place, name in enumerate(names)]


class Says:
    def __init__(self, *texts):
        self.texts = texts

    def expand(self, query, found):
        return [Query(text, query.language) for text in self.texts]


def expanded(shelf, expansions, query):
    """What the step makes of the strategy's own results."""
    return ExpansionStep(shelf.retrieve, expansions).refine(query, shelf.retrieve(query, 10), 10)


def names(hits):
    return [hit.chunk.id for hit in hits]


def test_what_another_wording_finds_is_added_behind_what_the_question_finds():
    shelf = Shelf(question=["a", "b"], other=["c", "b"])
    hits = expanded(shelf, [Expansion(Says("other"))], Query("question"))
    assert names(hits) == ["b", "a", "c"]
    assert all(0 <= hit.score <= 1 for hit in hits)
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)


def test_parts_of_a_question_take_turns():
    shelf = Shelf(question=["a", "b"], one=["c", "a"], two=["d"])
    hits = expanded(shelf, [Expansion(Says("one", "two"), share=0)], Query("question"))
    assert names(hits) == ["a", "c", "d", "b"]
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)


def test_the_question_itself_is_always_searched_and_four_queries_are_the_most():
    shelf = Shelf(question=["a"])
    expanded(shelf, [Expansion(Says("1", "2", "3", "4", "5"))], Query("question"))
    assert shelf.asked[0].text == "question"
    assert len(shelf.asked) == 1 + MOST


def test_the_same_query_is_not_searched_twice():
    shelf = Shelf(question=["a"])
    expanded(shelf, [Expansion(Says("Question", "other", "OTHER"))], Query("question"))
    assert sorted(query.text for query in shelf.asked) == ["other", "question"]


def test_earlier_questions_count_once_only():
    shelf = Shelf(question=["a"])
    expanded(shelf, [Expansion(Says("other"))], Query("question", previous=("before",)))
    assert [query.previous for query in shelf.asked] == [("before",), ()]


def test_a_general_question_has_no_numbers_and_names():
    query = Query("How long does delivery of 12 lamps to `Norway` take", "en")
    assert [other.text for other in StepBack().expand(query, [])] == [
        "How long does delivery of lamps to take"
    ]
    assert StepBack().expand(Query("How long does delivery take", "en"), []) == []


def test_only_the_telling_words_are_searched_too(shop):
    query = Query("How many working days does a parcel to the islands take to arrive", "en")
    (other,) = KeywordVariants(shop.rarity).expand(query, [])
    assert "islands" in other.text
    assert len(other.text) < len(query.text)


def test_feedback_adds_words_that_the_best_pages_share(shop):
    hits = shop.strategy.retriever.retrieve(Query("delivery of parcels", "en"), 3)
    made = Feedback(shop.rarity).expand(Query("delivery of parcels", "en"), hits)
    assert all(other.text.startswith("delivery of parcels ") for other in made)


class TestWithModel:
    def expander(self, shop, chat_model, task=Task.SUB_QUESTIONS):
        return ModelExpander(chat_model, task, SubQuestions(), shop.incidents, "shop")

    @pytest.mark.parametrize("task", list(Task))
    def test_the_model_makes_the_queries(self, shop, chat_model, model_server, task):
        model_server.script = lambda body: json.dumps({"queries": ["lamp return", "who pays"]})
        made = self.expander(shop, chat_model, task).expand(Query("lamp", "en"), [])
        assert [query.text for query in made] == ["lamp return", "who pays"]
        assert str(task) in str(model_server.requests[-1]["body"]["messages"])

    @pytest.mark.parametrize("reply", ['{"queries": "lamp"}', "no JSON", '{"queries": ["lamp"'])
    def test_a_reply_that_is_no_list_is_done_without(self, shop, chat_model, model_server, reply):
        model_server.script = lambda body: reply
        made = self.expander(shop, chat_model).expand(
            Query("What is the difference between A and B?", "en"), []
        )
        assert [query.text for query in made] == ["A", "B"]


@pytest.mark.parametrize(
    ("text", "is_comparison"),
    [
        ("What is the difference between the small lamp and the large one?", True),
        ("Was ist der Unterschied zwischen Abo und Einzelkauf?", True),
        ("基本版和专业版有什么区别", True),
        ("How do I clean the lamp and where?", False),
    ],
)
def test_a_comparison_is_told_from_a_question_for_one_thing(text, is_comparison):
    assert compares(text) is is_comparison
