"""What LightRAG's graph is made of, and how lists of it are cut and merged."""

from collections import Counter

import pytest

from server.domain.derived import Unwatched
from server.models.metered import estimate_tokens
from server.retrieval.published.derived.asking import ModelTasks
from server.retrieval.published.graph.extraction import EntityExtraction, ExtractedEntity, ExtractedRelation
from server.retrieval.published.graph.merging import (
    LONGEST_DESCRIPTION,
    MOST_SOURCES,
    GraphLimits,
    described,
    kept_entities,
    kept_relations,
    merged,
    telling,
)
from server.retrieval.published.lightrag.keywords import Keywords, read_keywords, without_model
from server.retrieval.published.lightrag.search import (
    EntityGraph,
    artefact_of,
    by_cosine,
    by_entities,
    by_polling,
    by_relations,
    in_turn,
    search,
    shared_out,
    within,
)
from tests.strategy_shop import chunk

ALL = GraphLimits(1, 1000, 1000)
ONE, TWO, THREE = (chunk(name, "Text.", title=name.title()) for name in ("one", "two", "three"))
LAMP, FIRM = "Glow Maxi", "Brass Works"
OF_ONE = EntityExtraction(
    (ExtractedEntity(LAMP, "product", "A lamp."), ExtractedEntity(FIRM, "firm", "A family firm.")),
    (ExtractedRelation(FIRM, LAMP, "The firm makes the lamp.", ("making", "brass"), 3),),
)
OF_TWO = EntityExtraction(
    (
        ExtractedEntity("glow  maxi", "product", "It has a dimmer."),
        ExtractedEntity("Dimmer", "part", "Turns."),
    ),
    (ExtractedRelation(LAMP, FIRM, "The lamp goes back to the firm.", ("repair", "brass"), 2),),
)
OF_THREE = EntityExtraction((ExtractedEntity(LAMP, "thing", "A lamp."),))


def graph_of(*pairs, limits=ALL):
    return merged([one for one, _ in pairs], [found for _, found in pairs], limits, Unwatched())


def walked(*pairs):
    made = graph_of(*pairs)
    nodes = [telling(node.fragments) for node in made.nodes.values()]
    return EntityGraph(artefact_of(made, nodes, [telling(edge.fragments) for edge in made.edges]))


def test_names_that_differ_in_case_and_spacing_are_one_entity_with_the_type_of_most():
    lamp = graph_of((ONE, OF_ONE), (TWO, OF_TWO), (THREE, OF_THREE)).nodes["glow maxi"]
    assert (lamp.name, lamp.type) == (LAMP, "product")
    assert list(lamp.fragments) == ["A lamp.", "It has a dimmer."]
    assert set(lamp.sources) == {"one", "two", "three"}


def test_relations_of_the_same_ends_add_up_whichever_way_they_run():
    (edge,) = graph_of((ONE, OF_ONE), (TWO, OF_TWO)).edges
    assert edge.weight == 5
    assert edge.told_keywords == ["brass", "making", "repair"]
    assert list(edge.fragments) == ["The firm makes the lamp.", "The lamp goes back to the firm."]
    assert edge.ends == ("brass work", "glow maxi")


def test_what_a_page_gave_goes_with_it_and_no_more():
    def told(made):
        nodes = [(n.name, n.type, list(n.fragments), list(n.sources)) for n in made.nodes.values()]
        return nodes, [(e.ends, e.weight, e.told_keywords, list(e.sources)) for e in made.edges]

    without = graph_of((ONE, OF_ONE), (THREE, OF_THREE))
    (edge,) = without.edges
    assert "dimmer" not in without.nodes
    assert list(without.nodes["glow maxi"].fragments) == ["A lamp."]
    assert (edge.weight, edge.told_keywords) == (3, ["making", "brass"])
    whole = graph_of((ONE, OF_ONE), (TWO, OF_TWO), (THREE, OF_THREE))
    assert told(whole) != told(without)
    assert told(graph_of((ONE, OF_ONE), (TWO, EntityExtraction()), (THREE, OF_THREE))) == told(without)


def test_an_entity_on_every_page_names_a_limited_number_of_chunks():
    pages = [(chunk(f"p{n}", "Text."), OF_ONE) for n in range(MOST_SOURCES + 20)]
    made = graph_of(*pages)
    assert len(made.nodes["glow maxi"].sources) == MOST_SOURCES
    assert made.edges[0].weight == 3 * len(pages)


def test_the_chunk_whose_title_is_the_entity_comes_first_among_its_chunks():
    titled = chunk("own", "Text.", title=LAMP)
    graph = walked((ONE, OF_ONE), (titled, OF_THREE))
    assert graph.entities[graph.named["glow maxi"]].sources == ("own", "one")


def test_a_phrase_of_one_chunk_is_no_entity_unless_it_is_a_title():
    found_in = Counter({"once": 1, "twice": 2, "often": 9, "title": 1})
    assert kept_entities(found_in, {"title"}, GraphLimits(2, 9, 9)) == {"title", "twice", "often"}
    assert kept_entities(found_in, {"title"}, GraphLimits(2, 2, 9)) == {"title", "often"}


def test_every_chunk_keeps_its_weightiest_relation_before_another_keeps_its_second():
    loud = {("a", "b"): 9.0, ("a", "c"): 8.0}
    quiet = {("x", "y"): 1.0}
    assert kept_relations([loud, quiet], GraphLimits(1, 9, 2)) == [("a", "b"), ("x", "y")]


def test_a_description_without_a_model_is_up_to_three_sentences_that_say_different_things():
    pieces = ["The lamp is of brass.", "The lamp is of brass indeed.", "It has a dimmer.", "Hello."]
    text = telling([*pieces, *pieces])
    assert text.count(".") <= 3
    assert "brass" in text
    assert len(telling([f"Sentence {n} of {'x' * 90}." for n in range(500)])) <= LONGEST_DESCRIPTION
    assert telling([]) == ""


class Summariser:
    name = "test"

    def __init__(self):
        self.prompts = []

    def complete(self, prompt):
        self.prompts.append(prompt)
        return '{"summary": "All of it."}'


@pytest.mark.parametrize(
    ("pieces", "asked"),
    [(["Fact."] * 7, 0), (["Fact."] * 8, 1), (["word " * 800] * 2, 1), (["word " * 400], 0)],
)
def test_a_model_summarises_eight_pieces_or_1200_tokens_and_nothing_less(pieces, asked):
    model = Summariser()
    (text,) = described(ModelTasks(model, None, estimate_tokens), [("Lamp", pieces, "en")])
    assert len(model.prompts) == asked
    assert text == ("All of it." if asked else "\n".join(pieces))


def test_entities_bring_their_relations_those_of_well_connected_ends_first():
    hub = EntityExtraction(
        (
            ExtractedEntity("Hub", "", ""),
            ExtractedEntity("Leaf", "", ""),
            ExtractedEntity("Twig", "", ""),
            ExtractedEntity("End", "", ""),
        ),
        (
            ExtractedRelation("Leaf", "End", "One.", (), 9),
            ExtractedRelation("Hub", "Leaf", "Two."),
            ExtractedRelation("Hub", "Twig", "3."),
        ),
    )
    graph = walked((ONE, hub))
    leaf = graph.named["leaf"]
    found = by_entities(graph, {leaf: 0.8})
    assert [graph.between(n) for n in found.relations] == ["Hub – Leaf", "Leaf – End"]
    assert list(found.relations.values()) == [0.4, 0.4]


def test_relations_bring_their_ends():
    graph = walked((ONE, OF_ONE))
    found = by_relations(graph, {0: 0.7})
    assert {graph.name(n): near for n, near in found.entities.items()} == {FIRM: 0.7, LAMP: 0.7}


@pytest.mark.parametrize(
    ("mode", "asked"),
    [
        ("local", {("entities", "Glow Maxi")}),
        ("global", {("relations", "price")}),
        ("hybrid", {("entities", "Glow Maxi"), ("relations", "price")}),
        ("mix", {("entities", "Glow Maxi"), ("relations", "price")}),
    ],
)
def test_local_takes_names_global_takes_themes_and_the_rest_both(mode, asked):
    seen = set()

    def near(kind, text):
        seen.add((kind, text))
        return {}

    search(walked((ONE, OF_ONE)), Keywords(("Glow Maxi",), ("price",)), "?", mode, near)
    assert seen == asked


def test_a_question_without_keywords_is_searched_itself_however_long_it_is():
    seen = []

    def near(kind, text):
        seen.append(text)
        return {}

    search(walked((ONE, OF_ONE)), Keywords(), "long question " * 20, "hybrid", near)
    assert seen == ["long question " * 20] * 2


def test_low_keywords_are_names_and_high_ones_the_other_content_words_and_the_question_ends_both():
    question = "Who repairs the glow maxi of Brass Works?"
    found = without_model(question, "en", {"glow maxi", "brass work"})
    assert {word.casefold().strip("?") for word in found.low[:-1]} == {"glow maxi", "brass works"}
    assert found.high[:-1] == ("repairs",)
    assert (found.low[-1], found.high[-1]) == (question, question)


def test_names_are_found_in_a_script_without_spaces():
    assert "섬 소포" in without_model("섬 소포는 며칠 걸립니까?", "ko", {"섬 소포"}).low


@pytest.mark.parametrize("reply", ["", "no", "[]", '{"low": "lamp", "high": []}', '{"low": []}', "{"])
def test_a_reply_without_both_lists_is_refused(reply):
    with pytest.raises(ValueError, match=r"."):
        read_keywords(reply)


def test_a_reply_with_more_than_wanted_is_cut():
    found = read_keywords(
        'Here: {"low": ["Glow  Maxi", "Glow Maxi", "", 7], "high": ["a","b","c","d","e","f","g"]}'
    )
    assert found == Keywords(("Glow Maxi", "7"), ("a", "b", "c", "d", "e", "f"))


def test_lists_merge_in_turn():
    assert list(in_turn([["a", "b", "c"], ["b", "x"], []])) == ["a", "b", "b", "x", "c"]


def test_a_budget_ends_a_list_before_the_first_that_does_not_fit():
    assert within(["aa", "bb", "cccc", "d"], len, 5) == ["aa", "bb"]


def test_a_chunk_of_several_items_counts_for_the_first_and_comes_first_there():
    assert shared_out([["p", "q"], ["q", "r"]], frozenset("r")) == [["q", "p"], []]


def test_polling_takes_many_of_the_first_and_few_of_the_last_and_gives_on_what_is_left():
    lists = [[f"a{n}" for n in range(9)], [f"b{n}" for n in range(9)], [f"c{n}" for n in range(9)]]
    taken = Counter(chunk[0] for chunk in by_polling(lists, 5))
    assert taken == {"a": 5, "b": 3, "c": 1}
    assert Counter(chunk[0] for chunk in by_polling([["a0"], lists[1], lists[2]], 5)) == {
        "a": 1,
        "b": 5,
        "c": 3,
    }
    assert by_polling([lists[0]], 2) == ["a0", "a1"]
    assert by_polling([], 5) == []


def test_by_cosine_half_of_the_number_for_each_item_is_taken():
    lists = [["a", "b", "c"], ["c", "d"]]
    assert by_cosine(lists, {"a": 0.1, "b": 0.5, "c": 0.9, "d": 0.3}, 2) == ["c", "b"]
