import pytest

from server.retrieval.published.graph.phrases import phrase_key, phrases


@pytest.mark.parametrize(("text", "language", "wanted"), [
    ("The Beatles were formed in Liverpool in 1960.", "en", ["Beatles", "Liverpool", "1960"]),
    ("He studied at the University of Oxford and Harvard University.", "en",
     ["University of Oxford", "Harvard University"]),
    ("She played in Romeo and Juliet.", "en", ["Romeo and Juliet", "Romeo", "Juliet"]),
    ("George W. Bush met O'Brien of the U.S. Army.", "en", ["George W. Bush", "O'Brien of the U.S. Army"]),
    ('They call it "the blue legend" there.', "en", ["the blue legend"]),
    ("Set `max_connections` in postgresql.conf or pass --host-name.", "en",
     ["max_connections", "postgresql.conf", "--host-name"]),
    ("An iPhone with COVID-19 and a HashMap", "en", ["iPhone", "COVID-19", "HashMap"]),
    ("Die Deutsche Bahn sitzt in Berlin.", "de", ["Deutsche Bahn", "Berlin"]),
    ("L'Université de Paris est grande.", "fr", ["Université de Paris"]),
    ("Владимир Ленин родился в Симбирске в 1870 году.", "ru", ["Владимир Ленин", "Симбирске", "1870"]),
    ("運転免許の更新はオンラインサービスで行う。", "ja", ["運転免許", "更新", "オンラインサービス"]),
    ("운전면허 갱신을 주민센터에서 할 수 있습니다.", "ko", ["운전면허", "갱신", "주민센터"]),
    ("学生可以申请国家奖学金，见《学生手册》。", "zh", ["学生", "申请国家奖学金", "学生手册"]),
    ("رخصة القيادة", "ar", ["رخصة القيادة"]),
])  # fmt: skip
def test_names_codes_quotes_and_years_are_found_in_the_order_of_the_text(text, language, wanted):
    assert phrases(text, language) == wanted


def test_a_phrase_is_given_as_often_as_it_stands_there():
    assert phrases("It is Chroma. We run Chroma on Linux.").count("Chroma") == 2


def test_words_in_capitals_only_because_a_sentence_starts_there_are_left_out():
    assert phrases("However, it rains. Click here. Rates change. The rates rise.") == []


def test_code_blocks_give_identifiers_only():
    assert phrases("it says\n```\nERROR Something Went Wrong in load_table\n```\n") == ["load_table"]


@pytest.mark.parametrize("number", ["$1999", "1,999", "12/1999", "1999.50", "3050", "1999%"])
def test_numbers_that_are_no_years_are_left_out(number):
    assert "1999" not in phrases(f"it was {number} then")


@pytest.mark.parametrize("text", ["", " ", "...", "🎉🎉", "\x00", "```", "a" * 5000, "A" * 5000, "A. " * 900])
def test_any_text_is_valid(text):
    assert all(isinstance(phrase, str) and phrase for phrase in phrases(text))


@pytest.mark.parametrize("same", [
    ("max_connections", "Max connections", "max-connection", "the Max Connections"),
    ("Café", "cafe", "CAFÉS"),
    ("O'Brien’s", "obrien"[:1] + "'brien"),
    ("python 3.11", "Python-3.11"),
    ("Policies", "policy"),
])  # fmt: skip
def test_spellings_of_a_phrase_have_one_key(same):
    assert len({phrase_key(one) for one in same}) == 1


@pytest.mark.parametrize(
    ("one", "other"), [("C", "C++"), ("3.11", "3.12"), ("C#", "C"), ("class", "clas"), ("bus", "bu")]
)
def test_different_things_have_different_keys(one, other):
    assert phrase_key(one) != phrase_key(other)


def test_what_has_no_letter_or_digit_has_no_key():
    assert phrase_key("--- …!") == ""
