"""What becomes of a text in the word index."""

import threading

import pytest

from server.indexes.tokens import LONGEST_TOKEN, page_tokens, query_tokens, tokens


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
        ("__init__", ["__init__", "init"]),
        ("os.path.join", ["os.path.join", "os", "path", "join"]),
        ("--allow-private", ["--allow-private", "allowpriv", "allow", "privat"]),
        ("MaxConnections", ["maxconnect", "max", "connect"]),
        ("HTTPServer", ["httpserver", "http", "server"]),
        ("3.11.4", ["3.11.4", "3.11", "3"]),
        ("v2.0", ["2.0", "2"]),
        ("E1234", ["e1234"]),
        ("PDFs", ["pdfs", "pdf"]),
        ("URLs", ["url"]),
        ("getURLs", ["geturl", "get", "url"]),
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
        ("安装软件", ["安装", "装软", "软件"]),
        ("税", ["税"]),
        ("データ", ["デー", "ータ"]),
        ("用户Python3", ["用户", "python3", "python"]),
        ("ภาษา", ["ภา", "าษ", "ษา"]),
    ],
)
def test_scripts_without_spaces_become_pairs(text, expected):
    assert tokens(text) == page_tokens(text)[: len(expected)] == expected


@pytest.mark.parametrize(
    ("text", "language", "expected"),
    [
        ("如何安装软件？", "zh", ["安装", "装软", "软件"]),
        ("请问税是多少", "zh", ["税是"]),
        ("パスワードの変更はどうすればいいですか", "ja", ["パス", "スワ", "ワー", "ード", "変更"]),
        ("비밀번호를 어떻게 변경하나요?", "ko", ["비밀", "밀번", "번호", "변경"]),
    ],
)
def test_a_question_without_spaces_asks_for_what_it_is_about_only(text, language, expected):
    assert tokens(text, language) == expected
    assert set(expected) <= set(page_tokens(text, language))


@pytest.mark.parametrize("particle", ["은", "이", "을", "에서", "으로", "까지", "에는", "하려면", "됩니다"])
def test_a_korean_noun_meets_the_bare_one_whatever_is_glued_to_it(particle):
    assert tokens(f"설정{particle}", "ko") == tokens("설정", "ko") == ["설정"]
    assert tokens("값", "ko")[0] in page_tokens("값을 바꿉니다", "ko")


def test_a_korean_word_of_two_syllables_is_not_taken_for_a_noun_with_a_particle():
    assert "회의" in tokens("회의", "ko")
    assert "회의" in page_tokens("회의에서", "ko")


def test_a_question_of_function_words_alone_is_searched_as_it_is():
    assert tokens("怎么", "zh") == ["怎么"]
    assert tokens("어떻게", "ko") == ["어떻", "떻게"]


def test_one_chinese_character_finds_the_words_that_it_stands_in():
    assert set(tokens("税", "zh")) <= set(page_tokens("所得税的计算", "zh"))


def test_half_width_kana_and_a_long_vowel_left_out_make_no_difference():
    assert tokens("ｻｰﾊﾞｰ", "ja") == tokens("サーバー", "ja") == tokens("サーバ", "ja")
    assert set(tokens("サーバ", "ja")) <= set(page_tokens("サーバーの設定", "ja"))


def test_latin_words_inside_chinese_keep_their_options():
    assert tokens("使用--force参数", "zh") == ["使用", "--force", "forc", "参数"]


@pytest.mark.parametrize(
    ("one", "other"), [("e-mail", "email"), ("time-stamp", "timestamp"), ("UTF-8", "utf8")]
)
def test_a_hyphen_more_or_less_makes_no_difference(one, other):
    assert tokens(one, "en")[0] == tokens(other, "en")[0]


@pytest.mark.parametrize(
    ("asked", "page", "language"),
    [
        ("Settings > Privacy > Cookies", "Open Settings, then Privacy, then Cookies.", "en"),
        ("File → Export", "the Export command of the File menu", "en"),
        ("ERR_SSL_PROTOCOL_ERROR", "Chrome says ERR_SSL_PROTOCOL_ERROR.", "en"),
        ("ORA-00942", "error ORA-00942: table or view does not exist", "en"),
        ("0x80070057", "Code 0x80070057 means a wrong parameter", "en"),
        ("/etc/apache2/apache2.conf", "in apache2.conf below /etc/apache2", "en"),
        ("server.port", "Set `server.port=8080` first", "en"),
        ("informacao", "Mais informação", "pt"),
        ("configuracion", "La configuración", "es"),
        ("loeschen fuer", "Dateien löschen", "de"),
        ("إعدادات", "صفحة الاعدادات", "ar"),
        ("елка", "ёлка", "ru"),
    ],
)
def test_what_is_asked_is_found_on_a_page_that_spells_it_its_own_way(asked, page, language):
    assert set(tokens(asked, language)) <= set(page_tokens(page, language))


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


@pytest.mark.parametrize(
    ("question", "language", "thing"),
    [
        ("combien de doses", "fr", "doses"),
        ("wie viel Dosen", "de", "Dosen"),
        ("wieviel Dosen", "de", "Dosen"),
        ("cuántas dosis", "es", "dosis"),
        ("quante dosi", "it", "dosi"),
        ("quantas doses", "pt", "doses"),
        ("сколько доз", "ru", "доз"),
        ("hoeveel doses", "nl", "doses"),
        ("ile dawek", "pl", "dawek"),
    ],
)
def test_words_that_ask_for_an_amount_do_not_count(question, language, thing):
    assert tokens(question, language) == tokens(thing, language)
