"""auto hands each kind of question to the strategy that measured best on it."""

import pytest

from server.retrieval.auto import AUTO, AutoOptions
from server.retrieval.options import read_choices
from server.retrieval.question_kinds import kind_of
from tests.strategy_shop import chunk

LAMPS = chunk("lamps", "The Glow Maxi is a lamp of brass with a dimmer.", title="Lamps")
DELIVERY = chunk("delivery", "Parcels to islands take five working days.", title="Delivery")


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("overview", "What are the main themes of this documentation?"),
        ("overview", "Give me an overview of the payment options"),
        ("overview", "What kinds of replication are there?"),
        ("overview", "Welche Arten von Indizes gibt es?"),
        ("overview", "Quels sont les principaux thèmes ?"),
        ("overview", "¿Qué tipos de envío hay?"),
        ("overview", "Quais os tipos de conta?"),
        ("overview", "Какие способы оплаты есть?"),
        ("overview", "这个文档的主要内容有哪些？"),
        ("overview", "主なテーマは何ですか"),
        ("overview", "주요 주제는 무엇인가요?"),
        ("overview", "ما هي المواضيع الرئيسية"),
        ("several", "What is the difference between VACUUM and VACUUM FULL?"),
        ("several", "json vs jsonb for a table that is searched a lot"),
        ("several", "How is a dump made and how is it loaded again?"),
        ("several", "Who directed the film that won the prize of the city where Holm was born?"),
        ("lookup", "Which port does the server listen on?"),
        ("lookup", "How do I return a lamp?"),
        ("lookup", ""),
        ("lookup", "x" * 5000),
    ],
)
def test_the_kind_of_a_question_is_told_by_its_words(kind, text):
    assert kind_of(text) == kind


@pytest.fixture
def make_shop(open_shop):
    def make(options=None, **chosen):
        folder = options.untested if options else "plain"
        return open_shop(lambda parts: AUTO.make(parts, options), folder, chosen=chosen)

    return make


def test_each_kind_goes_where_the_evaluation_sends_it_and_the_first_hit_says_why(make_shop):
    shop = make_shop(several=("dense", "hit@5 0.90 against 0.80"), overview=("lexical", "tested"))
    shop.change(LAMPS, DELIVERY)
    assert shop.found("How long do parcels take?")[0].why == (
        "auto: lookup question, by hybrid (nothing else measured better)"
    )
    assert shop.found("What is the difference between lamps and parcels?")[0].why == (
        "auto: several question, by dense (hit@5 0.90 against 0.80)"
    )
    overview = shop.found("What kinds of lamps are there?")
    assert "by lexical (tested)" in overview[0].why
    assert "dense" not in overview[0].scores


def test_only_strategies_that_are_used_are_built(make_shop):
    shop = make_shop(several=("questions", "measured"))
    shop.change(LAMPS, DELIVERY)
    assert [state.key.partition(".")[0] for state in shop.derived.states()] == ["questions"]
    assert shop.strategy.builder.is_current(shop.text())


def test_nothing_measured_means_hybrid_unless_the_publications_are_to_be_followed(make_shop):
    plain, published = make_shop(), make_shop(AutoOptions(untested="published"))
    for shop, expected in ((plain, "hybrid"), (published, "hipporag")):
        shop.change(LAMPS, DELIVERY)
        why = shop.found("What is the difference between lamps and parcels?")[0].why
        assert f"by {expected} (" in why
    assert "by graphrag[mode=global] (as published; not measured here)" in (
        published.found("What are the main themes?")[0].why
    )


@pytest.mark.parametrize(
    "value", [None, 3, {"several": "dense"}, {"unheard": {"strategy": "dense"}}, {"several": {}}]
)
def test_choices_that_cannot_be_read_are_left_out(value):
    assert read_choices(value) == {}


def test_choices_are_read():
    assert read_choices({"several": {"strategy": "dense", "reason": "r"}}) == {"several": ("dense", "r")}
