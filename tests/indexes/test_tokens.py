"""What becomes of a text in the word index."""

import threading

import pytest

from server.indexes.tokens import LONGEST_TOKEN, query_tokens, tokens


@pytest.mark.parametrize(
    ("language", "one", "other"),
    [
        ("en", "Installing the lamps", "install a lamp"),
        ("de", "Die Häuser der Straße", "haus strasse"),
        ("de", "Übung", "uebung"),
        ("fr", "l’installation des écoles", "installations école"),
        ("es", "las informaciones", "información"),
        ("it", "le installazioni", "installazione"),
        ("pt", "configurações", "configuração"),
        ("nl", "de lampen", "lamp"),
        ("ru", "установка приложений", "установки приложение"),
        ("tr", "IŞIKLAR İSTANBUL", "ışıklar istanbul"),
        ("el", "Ελλάδα", "ελλαδα"),
        ("ar", "مُحَمَّد", "محمد"),
        ("", "Ｆｕｌｌ　ｗｉｄｔｈ", "full width"),
    ],
)
def test_forms_of_a_word_become_one_token(language, one, other):
    assert tokens(one, language) == tokens(other, language) != []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("max_connections", ["max_connections", "max", "connect"]),
        ("os.path.join", ["os.path.join", "os", "path", "join"]),
        ("--allow-private", ["--allow-private", "allowpriv", "allow", "privat"]),
        ("MaxConnections", ["maxconnect", "max", "connect"]),
        ("HTTPServer", ["httpserver", "http", "server"]),
        ("3.11.4", ["3.11.4", "3.11", "3"]),
        ("v2.0", ["2.0", "2"]),
        ("E1234", ["e1234"]),
        ("COVID-19", ["covid19", "covid", "19"]),
        ("C++ C# c", ["c++", "c#", "c"]),
        ("Python3", ["python3", "python"]),
        ("don't", []),
        ("WHO says who", ["who", "say"]),
        ("HOW DO I PAY", ["pay"]),
    ],
)
def test_identifiers_stay_whole_and_give_their_parts(text, expected):
    assert tokens(text, "en") == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("如何安装", ["如何", "何安", "安装"]),
        ("税", ["税"]),
        ("データ", ["デー", "ータ"]),
        ("문서를 찾기", ["문서", "서를", "찾기"]),
        ("用Python3写", ["用", "python3", "python", "写"]),
        ("ภาษา", ["ภา", "าษ", "ษา"]),
    ],
)
def test_scripts_without_spaces_become_pairs(text, expected):
    assert tokens(text) == expected


def test_letters_that_only_look_like_accented_ones_stay():
    assert tokens("йод", "ru") != tokens("иод", "ru")
    assert tokens("ガ") != tokens("カ")
    assert "हिन्द" in tokens("हिन्दी", "hi")


def test_a_word_of_another_script_is_stemmed_in_its_usual_language():
    assert tokens("installations", "ru") == tokens("installation", "en") == ["instal"]


@pytest.mark.parametrize("text", ["", " \n\t", "…!?—", "___", "--", "\0", "\ud800", "🙂", "." * 5000])
def test_texts_without_words_have_no_tokens(text):
    assert tokens(text) == []


def test_encoded_data_gives_tokens_of_limited_length():
    assert max(map(len, tokens("QUJD" * 500 + " a_" + "b" * 300))) <= LONGEST_TOKEN


def test_tokens_never_hold_white_space_or_quotes():
    text = "It's \"so\" & 'so': a\u00a0b\u2003c d’e <f> [g] {h} `i` \\j |k|"
    assert not [token for token in tokens(text) if set(token) & set(" \"'\u00a0\\`|<>")]


def test_a_query_holds_the_stems_of_every_language_of_the_index():
    both = query_tokens("Installationen", ["en", "de"])
    assert set(tokens("Installationen", "en")) | set(tokens("Installationen", "de")) == set(both)


def test_a_query_loses_the_function_words_of_its_own_language_only():
    assert query_tokens("Was war der Grund für den Krieg?", ["en", "de"]) == ["grund", "krieg"]
    assert "war" in query_tokens("the causes of the war", ["en", "de"])


def test_a_query_gives_each_token_once():
    assert query_tokens("lamp lamps LAMP", ["en"]) == ["lamp"]


def test_threads_stem_alike():
    words = [f"installation{ending} lamps running" for ending in "abcdefghij"]
    expected = [tokens(text, "en") for text in words]
    results = []
    threads = [
        threading.Thread(target=lambda: results.append([tokens(f"{text} ", "en") for text in words]))
        for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [expected] * 8
