import json
from time import monotonic

import pytest

from server.answering.trace import Trace
from server.answering.understanding.follow_ups import FollowUpStep, ModelFollowUpStep
from server.answering.understanding.reference import Leaning, leaning, replaced
from server.answering.understanding.steps import understand
from server.domain.question import Question, Turn, VisitorPage
from server.languages.loader import languages
from server.models.openai import OpenAIChat
from tests.openai_replies import REFUSAL
from tests.servers import HERE


def rewrite(text, *earlier, title="Lantern Shop"):
    history = tuple(Turn(question, "An answer.", question, "en") for question in earlier)
    return FollowUpStep(title).standalone(Question(text, "shop", history, "en"))


@pytest.mark.parametrize(
    "follow_up", ["and on Windows?", "What about Windows?", "Windows?", "Does it work on Windows?"]
)
def test_a_follow_up_takes_along_what_it_refers_to(follow_up):
    query = rewrite(follow_up, "How do I install the lamp driver on Linux?")
    assert {"windows", "lamp", "driver"} <= set(query.text.lower().replace("?", "").split())


def test_a_question_that_stands_alone_stays_as_it_is():
    text = "Which payment methods are accepted for orders from abroad?"
    assert rewrite(text, "How do I install the lamp driver on Linux?").text == text


def test_a_question_for_the_whole_site_leans_on_nothing_that_was_said():
    query = rewrite("What are the main themes of this documentation?", "How do I install the lamp driver?")
    assert query.text == "What are the main themes of this documentation?"
    assert query.previous == ()


def test_earlier_queries_go_along_newest_first():
    assert rewrite("And then?", "First question here", "Second question here").previous == (
        "Second question here",
        "First question here",
    )


def test_a_short_question_gets_the_title_of_the_site():
    assert rewrite("opening hours").title == "Lantern Shop"


def test_the_title_is_not_added_when_the_question_has_it_in_any_case():
    assert rewrite("what is the LANTERN shop").title == ""


@pytest.mark.parametrize(
    ("text", "language", "searched"),
    [
        ("where is it?", "en", "where does Lantern Fair 2031 take place, venue"),
        ("where are you", "en", "where does Lantern Fair 2031 take place, venue"),
        ("when is it", "en", "when does Lantern Fair 2031 take place"),
        ("Wann ist es?", "de", "Wann findet Lantern Fair 2031 statt"),
        ("¿Cuándo es?", "es", "Cuándo se celebra Lantern Fair 2031"),
        ("¿Dónde es?", "es", "Dónde se celebra Lantern Fair 2031, lugar"),
        ("C'est quand ?", "fr", "Quand a lieu Lantern Fair 2031"),
        ("C'est où ?", "fr", "Où se tient Lantern Fair 2031, lieu"),
        ("how much is it", "en", "how much do tickets for Lantern Fair 2031 cost, ticket price"),
        ("Was kostet das?", "de", "Was kosten Tickets für Lantern Fair 2031, Ticketpreis"),
        ("where is the toilet?", "en", "where is the toilet?"),
        ("how much is the dinner", "en", "how much is the dinner"),
        ("when does the shop open", "en", "when does the shop open"),
    ],
)
def test_a_first_question_that_names_nothing_is_about_the_event(text, language, searched):
    assert FollowUpStep("Lantern Fair 2031").standalone(Question(text, "shop", (), language)).text == searched


def test_on_another_site_it_may_be_anything():
    assert rewrite("when is it?").text == "when is it?"


@pytest.mark.parametrize(
    ("text", "language", "searched"),
    [
        ("is it free?", "en", "how much does Lantern Shop cost, is Lantern Shop free"),
        ("Does it cost anything", "en", "how much does Lantern Shop cost, is Lantern Shop free"),
        ("do i have to pay for this?", "en", "how much does Lantern Shop cost, is Lantern Shop free"),
        ("is there a fee", "en", "how much does Lantern Shop cost, is Lantern Shop free"),
        ("Ist das kostenlos?", "de", "Was kostet Lantern Shop, ist Lantern Shop kostenlos"),
        ("C'est gratuit ?", "fr", "Combien coûte Lantern Shop, Lantern Shop est gratuit"),
        ("C'est gratuit\N{NO-BREAK SPACE}?", "fr", "Combien coûte Lantern Shop, Lantern Shop est gratuit"),
        ("¿Es gratis?", "es", "Cuánto cuesta Lantern Shop, Lantern Shop es gratis"),
        ("É grátis?", "pt", "Quanto custa Lantern Shop, Lantern Shop é gratuito"),
        ("C'est combien ?", "fr", "Combien coûte Lantern Shop, Lantern Shop est gratuit"),
        ("what are the prices?", "en", "how much does Lantern Shop cost, is Lantern Shop free"),
        *((text, "en", text) for text in ("how much do I get?", "how much can I have", "who has the price")),
        *((text, "de", text) for text in ("Welche Preise gibt es?", "Wer hat den Preis?")),
        ("qui a eu le prix ?", "fr", "qui a eu le prix ?"),
        ("is it free of sugar?", "en", "is it free of sugar?"),
        ("is delivery free", "en", "is delivery free"),
        ("do i have to pay in cash", "en", "do i have to pay in cash"),
        ("how much oil does it burn", "en", "how much oil does it burn"),
    ],
)
def test_a_first_question_for_a_price_that_names_nothing_is_about_the_site(text, language, searched):
    assert FollowUpStep("Lantern Shop").standalone(Question(text, "shop", (), language)).text == searched


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("en", "how do I sign up for updates"),
        ("en", "do you have a newsletter?"),
        ("en", "Can I get the news by email"),
        ("en", "mailing list"),
        ("en", "how can I stay up to date?"),
        ("de", "Wie kann ich den Newsletter abonnieren?"),
        ("de", "Habt ihr einen Newsletter?"),
        ("fr", "Comment m'abonner à la newsletter ?"),
        ("es", "¿Cómo puedo suscribirme al boletín?"),
        ("pt", "Vocês têm uma newsletter?"),
    ],
)
def test_a_question_for_a_newsletter_is_searched_in_the_words_of_sites(language, text):
    searched = FollowUpStep("Lantern Shop").standalone(Question(text, "shop", (), language)).text
    assert searched == languages()[language].card.bare_updates != ""


@pytest.mark.parametrize(
    "text", ["how do I sign up", "how do I unsubscribe from the newsletter", "get emails from the server"]
)
def test_what_asks_for_more_or_less_than_a_newsletter_is_searched_as_it_is(text):
    assert FollowUpStep("Lantern Shop").standalone(Question(text, "shop", (), "en")).text == text


def test_words_that_the_spelling_added_hide_no_question_that_names_nothing():
    asked = Question("how do I sign up for updates signup", "shop", (), "en")
    step = FollowUpStep("Lantern Shop")
    assert step.standalone(asked, "how do I sign up for updates").text == "subscribe to our newsletter"


def test_a_question_on_a_page_that_names_nothing_is_about_the_page():
    page = VisitorPage("https://shop.example/lamp", "The lamp")
    asked = Question("how much is it", "shop", (), "en", page=page)
    assert FollowUpStep("Lantern Shop").standalone(asked).text == "how much is it"


def test_a_later_question_that_names_nothing_is_about_what_was_said():
    query = rewrite("where is it?", "Is there a party on Friday?", title="Lantern Fair 2031")
    assert "party" in query.text
    assert "Fair" not in query.text


def test_a_long_question_needs_no_title():
    assert rewrite("How long does delivery of a large lamp to the islands take?").title == ""


@pytest.mark.parametrize(
    ("text", "language", "how"),
    [
        ("and on Windows?", "en", Leaning.GOES_ON),
        ("how do I undo that?", "en", Leaning.POINTS),
        ("no, I meant the other one", "en", Leaning.CORRECTS),
        ("Und unter Windows?", "de", Leaning.GOES_ON),
        ("Wie mache ich das rückgängig, und geht das?", "de", Leaning.POINTS),
        ("nein, ich meinte die andere", "de", Leaning.CORRECTS),
        ("et sous Windows ?", "fr", Leaning.GOES_ON),
        ("comment annuler cela ?", "fr", Leaning.POINTS),
        ("non, je voulais dire l'autre", "fr", Leaning.CORRECTS),
        ("¿y en Windows?", "es", Leaning.GOES_ON),
        ("¿cómo puedo deshacer eso?", "es", Leaning.POINTS),
        ("no, me refiero al otro", "es", Leaning.CORRECTS),
        ("e no Windows?", "pt", Leaning.GOES_ON),
        ("como desfaço isso?", "pt", Leaning.POINTS),
        ("não, eu quis dizer o outro", "pt", Leaning.CORRECTS),
        ("а в Windows?", "ru", Leaning.GOES_ON),
        ("как это отменить?", "ru", Leaning.POINTS),
        ("нет, я имел в виду другой", "ru", Leaning.CORRECTS),
        ("那在 Windows 上呢？", "zh", Leaning.GOES_ON),
        ("怎么撤销它？", "zh", Leaning.POINTS),
        ("不是，我是说另一个", "zh", Leaning.CORRECTS),
        ("じゃあ Windows では？", "ja", Leaning.GOES_ON),
        ("それを元に戻すには", "ja", Leaning.POINTS),
        ("いや、もう一つの方です", "ja", Leaning.CORRECTS),
        ("그럼 윈도우에서는요?", "ko", Leaning.GOES_ON),
        ("그것을 어떻게 취소해요", "ko", Leaning.POINTS),
        ("아니요, 다른 걸 말한 거예요", "ko", Leaning.CORRECTS),
        ("وماذا عن ويندوز؟", "ar", Leaning.GOES_ON),
        ("كيف ألغي ذلك؟", "ar", Leaning.POINTS),
        ("لا، أقصد الآخر", "ar", Leaning.CORRECTS),
    ],
)
def test_a_question_is_known_to_lean_on_the_one_before_in_ten_languages(text, language, how):
    assert leaning(text, language) is how


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("Which payment methods are accepted for orders from abroad?", "en"),
        ("How do I grow a logical volume and the filesystem on it?", "en"),
        ("Is there a discount for students in the summer?", "en"),
        ("Wie lange dauert die Lieferung auf die Inseln?", "de"),
        ("Wie wird das Wetter morgen in Berlin?", "de"),
        ("如何给新用户创建一个数据库备份", "zh"),
        ("メールサーバーのバックアップを取る方法を教えてください", "ja"),
        ("신용카드로 결제한 주문을 취소하는 방법", "ko"),
    ],
)
def test_a_question_that_tells_what_it_is_about_leans_on_nothing(text, language):
    assert leaning(text, language) is Leaning.NOT


@pytest.mark.parametrize(
    ("text", "taken_back", "instead"),
    [
        ("no, not MySQL, PostgreSQL", "MySQL", "PostgreSQL"),
        ("nicht die Lampe, sondern der Schirm", "die Lampe", "der Schirm"),
        ("不是红色的，是蓝色的", "红色的", "蓝色的"),
        ("赤じゃなくて青", "赤", "青"),
        ("빨간색 말고 파란색", "빨간색", "파란색"),
        ("no, I meant the blue one", "", "I meant the blue one"),
    ],
)
def test_a_correction_says_what_it_takes_back(text, taken_back, instead):
    assert replaced(text) == (taken_back, instead)


def test_what_was_taken_back_is_not_searched_any_more():
    query = rewrite("no, not MySQL, PostgreSQL", "How do I back up MySQL on Linux?")
    words = set(query.text.lower().replace("?", "").split())
    assert {"postgresql", "linux"} <= words
    assert "mysql" not in words


@pytest.mark.parametrize(
    ("earlier", "text", "language", "gone", "kept"),
    [
        ("are you open on tuesdays?", "and sundays?", "en", "tuesdays", "open"),
        ("can I register in person in Minnesota?", "what about Texas?", "en", "Minnesota", "person"),
        ("can I register in person in New York?", "and in Texas?", "en", "York", "person"),
        ("how do I get there by bus?", "and from Wigan by train?", "en", "bus", "get"),
        ("Kann ich mit Karte zahlen?", "und mit Bargeld?", "de", "Karte", "zahlen"),
        ("what does the Uno lamp in Germany cost?", "and Italy?", "en", "", "Uno"),
        ("how long is the warranty of the Opta?", "and in Germany?", "en", "", "Opta"),
        ("can I register in person?", "and in Ohio?", "en", "", "person"),
    ],
)
def test_a_follow_up_puts_a_thing_in_place_of_another(earlier, text, language, gone, kept):
    history = (Turn(earlier, "An answer.", earlier, language),)
    words = FollowUpStep("").standalone(Question(text, "shop", history, language)).text.split()
    assert not gone or not any(gone in word for word in words)
    assert any(kept in word for word in words)


def test_another_topic_is_not_mixed_with_the_one_before():
    text = "Which lamps are safe for a bathroom ceiling?"
    assert rewrite(text, "How long does delivery to the islands take?").text == text


def test_a_greeting_is_not_what_a_follow_up_follows():
    query = rewrite("and on Windows?", "How do I install the lamp driver on Linux?", "Thanks a lot!")
    assert "driver" in query.text


def test_a_greeting_is_not_searched():
    assert rewrite("Hello, how do I return a lamp?").text == "how do I return a lamp?"


def test_a_wish_for_a_language_is_not_searched():
    assert rewrite("How do I return a lamp? Please answer in German").text == "How do I return a lamp?"


def test_the_words_before_are_searched_again_when_only_the_language_is_to_change():
    assert rewrite("in Spanish, please", "How do I return a lamp?").text == "How do I return a lamp?"


def test_a_short_question_in_japanese_gets_the_title_too():
    history = ()
    assert (
        FollowUpStep("ランタン屋").standalone(Question("送料は？", "shop", history, "ja")).title
        == "ランタン屋"
    )


@pytest.mark.parametrize(("when", "title"), [("always", "Lantern Shop"), ("never", ""), ("short", "")])
def test_the_operator_decides_which_questions_get_the_title(when, title):
    question = Question("How long does delivery of a large lamp to the islands take?", "shop", (), "en")
    assert FollowUpStep("Lantern Shop", when).standalone(question).title == title


class TestWithModel:
    HISTORY = (
        Turn("How do I install the driver on Linux?", "Run sh lamp-driver.sh.", "install driver Linux", "en"),
    )

    def rewritten(self, text, shop, chat_model):
        steps = [FollowUpStep("Lantern Shop"), ModelFollowUpStep(chat_model, shop.incidents)]
        return understand(Question(text, "shop", self.HISTORY, "en"), steps, Trace())

    def test_the_model_words_what_leans_on_the_question_before(self, shop, chat_model, model_server):
        model_server.script = lambda body: json.dumps({"question": "How do I install the driver on Windows?"})
        assert (
            self.rewritten("and on Windows?", shop, chat_model).text
            == "How do I install the driver on Windows?"
        )

    def test_a_question_that_stands_alone_costs_no_call(self, shop, chat_model, model_server):
        self.rewritten("Which payment methods are accepted for orders from abroad?", shop, chat_model)
        assert not model_server.requests

    def test_without_a_usable_reply_the_plain_rewriting_stands(self, shop, chat_model, model_server):
        model_server.script = lambda body: '{"question": '
        assert "Linux" in self.rewritten("and on Windows?", shop, chat_model).text

    @pytest.mark.parametrize(
        "reply",
        [
            REFUSAL,
            json.dumps({"question": REFUSAL}),
            "Sure! Here is the question:",
            json.dumps({"question": "How much is the fish?"}),
        ],
    )
    def test_a_reply_that_is_no_wording_of_the_question_is_not_searched(
        self, shop, chat_model, model_server, reply
    ):
        model_server.script = lambda body: reply
        assert "Linux" in self.rewritten("and on Windows?", shop, chat_model).text

    def test_a_visitor_waits_no_longer_for_the_wording_than_for_first_words(self, shop, model_server):
        model = OpenAIChat("slow", base_url=model_server.base_url, guard=HERE, first_token_s=0.2, total_s=60)
        model_server.latency_s = 5
        started = monotonic()
        assert "Linux" in self.rewritten("and on Windows?", shop, model).text
        assert monotonic() - started < 2
