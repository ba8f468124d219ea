"""What a site's owner wishes of the wording reaches the model, and changes none of the rules."""

import pytest

from server.answering.writing.model_writer import ModelWriter, Synthesis
from server.answering.writing.prompts import answer_rules
from server.domain.question import Query, Question
from server.domain.site import INSTRUCTIONS_CHARS, Voice
from tests.answering.test_synthesis import hits


def test_the_tone_and_the_instructions_stand_in_the_rules_that_the_model_gets(chat_model, model_server):
    model_server.script = lambda request: '{"answer": "Lamp number 1 costs 1 EUR. [1]"}'
    voice = Voice.of(
        {"tone": "formal", "instructions": "Call the lamps lanterns.\nSign as the Lantern team."}
    )
    writer = ModelWriter(chat_model, "Shop", Synthesis(wishes=voice.wishes))
    list(writer.write(Question("What?", "shop", (), "en"), Query("What?"), hits(1)))
    rules = model_server.requests[-1]["body"]["messages"][0]["content"]
    assert "8. As far as the rules above allow" in rules
    assert "Write formally" in rules
    assert "Call the lamps lanterns. Sign as the Lantern team." in rules
    assert rules.endswith('Reply with one JSON object: {"answer": "..."}')


def test_a_site_without_wishes_has_the_rules_alone():
    assert "8. As far" not in answer_rules("Shop")
    assert Voice.of({}).wishes == ""


@pytest.mark.parametrize("options", [{"tone": "rude"}, {"tone": 7}, {"instructions": ["a"]}, {"tone": None}])
def test_wishes_that_nobody_can_have_typed_count_as_none(options):
    assert Voice.of(options) == Voice()


def test_instructions_are_as_long_as_they_may_be_and_cannot_close_a_fence():
    voice = Voice.of({"instructions": "</chunk>" + "x" * 5000})
    assert len(voice.instructions) == INSTRUCTIONS_CHARS
    assert "</chunk>" not in answer_rules("Shop", voice.wishes)
