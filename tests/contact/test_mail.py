"""Messages of visitors as e-mails, handed to a real mail server."""

import pytest

from server.commands import doctor
from server.contact.channel import NotDelivered, pack
from server.contact.mail import MailServer, letter
from server.domain.site import Site
from server.runtime.runtime import open_runtime
from server.settings import Settings
from tests.contact.conftest import FROM, SECRET, Post, mail_server, talk, text_of
from tests.servers import HERE

MAIL = {"email": "people@shop.example"}


@pytest.fixture
def office(make_office, smtp_url):
    return make_office(MAIL, smtp_url=smtp_url)


@pytest.fixture
def mail(make_office):
    office = make_office(MAIL)
    return letter(pack(office.site, office.write(), None, "https://bot.example"), FROM, MAIL["email"])


def test_the_letter_goes_to_the_site_and_its_answer_to_the_visitor(office, post):
    request = office.write("Please call me.\n\nThe lamp is broken.")
    office.send_until_idle()
    (mail,) = post.letters
    assert post.envelopes == [("docent@shop.example", ["people@shop.example"])]
    assert mail["From"] == FROM
    assert mail["To"] == "people@shop.example"
    assert mail["Reply-To"] == "vera@visitor.example"
    assert mail["Subject"] == f"The Lantern Shop: message from a visitor ({request.reference})"
    assert mail["Message-ID"] == f"<{request.id}@shop.example>"
    text = text_of(mail)
    assert "Please call me.\n\nThe lamp is broken.\n" in text
    assert f"/admin/messages/{request.id}" in text
    assert office.log()[0][:2] == ("email", "sent")


def test_the_conversation_is_in_the_letter_with_links_to_what_was_cited(office, post):
    conversation = talk(office, ["How long does delivery take?", "And to 島?"])
    office.write(conversation=conversation)
    office.send_until_idle()
    text = text_of(post.letters[0])
    assert text.index("How long does delivery take?") < text.index("And to 島?")
    assert "Docent (answered): Delivery takes **two days**. [1]" in text
    assert "[1] Delivery: https://shop.example/delivery#:~:text=two%20days" in text


def test_of_a_long_conversation_the_last_questions_travel(office, post):
    office.write(conversation=talk(office, [f"Question {number}?" for number in range(53)]))
    office.send_until_idle()
    text = text_of(post.letters[0])
    assert "(3 earlier questions are in the dashboard only.)" in text
    assert "Question 2?" not in text
    assert "Question 3?" in text


def test_what_was_asked_after_the_message_is_not_in_the_letter(office, post):
    conversation = talk(office)
    office.write(conversation=conversation)
    talk(office, ["Another conversation?"])
    office.send_until_idle()
    assert "Another conversation?" not in text_of(post.letters[0])


@pytest.mark.parametrize(
    ("email", "title"),
    [
        ("vera@visitor.example\r\nBcc: all@victims.example", "Shop"),
        ("vera@visitor.example, all@victims.example", "Shop"),
        ("vera@visitor.example", "Shop\r\nBcc: all@victims.example\r\n\r\nBuy this"),
        ("vera@visitor.example", "Shop\x00\x1b[31m"),
    ],
)
def test_nobody_writes_headers_of_the_letter(make_office, smtp_url, post, email, title):
    office = make_office(MAIL, smtp_url=smtp_url, contact_tries=1)
    office.sites.update(type(office.site)(**{**_fields(office.site), "title": title}))
    office.write(email=email, message="Hello\r\nBcc: all@victims.example\r\n.\r\nMAIL FROM:<x@y.example>")
    office.send_until_idle()
    (mail,) = post.letters
    assert mail["Bcc"] is None
    assert mail.get_all("To") == ["people@shop.example"]
    assert mail["Reply-To"] in (None, "vera@visitor.example")
    assert post.envelopes == [("docent@shop.example", ["people@shop.example"])]
    assert email.split()[0].strip(",") in text_of(mail)


def _fields(site):
    return {name: getattr(site, name) for name in type(site).__dataclass_fields__}


def test_a_line_with_one_dot_does_not_end_the_letter(office, post):
    office.write("One\n.\nTwo\n..\nThree")
    office.send_until_idle()
    assert "One\n.\nTwo\n..\nThree\n" in text_of(post.letters[0])


def test_an_address_with_other_letters_is_told_in_the_text_and_in_no_header(office, post):
    office.write(email="веra@visitor.example")
    office.send_until_idle()
    (mail,) = post.letters
    assert mail["Reply-To"] is None
    assert "Your answer goes to веra@visitor.example." in text_of(mail)


def test_a_letter_that_is_refused_for_now_is_sent_again_and_arrives_once(office, post):
    post.answers = ["451 Try later", "450 Greylisted"]
    office.write()
    office.send_until_idle()
    ((channel, state, log),) = office.log()
    assert (channel, state, [arrived for arrived, _ in log]) == ("email", "sent", [False, False, True])
    assert "answered 451 Try later" in log[0][1]
    assert len(post.letters) == 1


def test_without_a_mail_server_the_message_waits_and_goes_as_soon_as_there_is_one(
    make_office, tmp_path, post, smtp_url
):
    office = make_office(MAIL, contact_tries=1)
    office.write()
    assert not office.outbox.send_next()
    assert office.log() == [("email", "waiting", [])], "this was no try, and no failure is reported"
    assert office.incidents.recent(["shop"]) == []
    office.settings = Settings.of(
        data_dir=tmp_path, mail_from=FROM, smtp_url=smtp_url, private_hosts="127.0.0.1"
    )
    office.send_until_idle()
    assert len(post.letters) == 1


def test_a_webhook_does_not_wait_for_a_mail_server(make_office, receiver):
    office = make_office({**MAIL, "webhook": receiver.address, "secret": SECRET})
    office.write()
    assert office.outbox.send_next()
    assert sorted((way, state) for way, state, _log in office.log()) == [
        ("email", "waiting"),
        ("webhook", "sent"),
    ]


def test_a_mail_server_that_is_not_there_is_named(mail):
    with pytest.raises(NotDelivered, match=r"127\.0\.0\.1:9 .*connection refused"):
        MailServer("smtp://127.0.0.1:9", 5, HERE).send(mail)


# --- Encryption


def test_a_password_travels_encrypted(mail, post, tls, certificate, monkeypatch):
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate[0]))
    monkeypatch.setattr("server.contact.mail._is_here", lambda host: False)
    options = {"tls_context": tls, "require_starttls": True, "authenticator": post.authenticate}
    with mail_server(post, **options) as port:
        MailServer(f"smtp://docent%40shop.example:p%40ss%2Fword@127.0.0.1:{port}", 5, HERE).send(mail)
    assert post.logins == [("docent@shop.example", "p@ss/word")]
    assert len(post.letters) == 1


def test_a_server_that_speaks_tls_from_the_start(mail, post, tls, certificate, monkeypatch):
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate[0]))
    with mail_server(post, ssl_context=tls, server_hostname="127.0.0.1") as port:
        MailServer(f"smtps://127.0.0.1:{port}", 5, HERE).send(mail)
    assert len(post.letters) == 1


def test_a_certificate_of_somebody_else_is_refused(mail, post, tls, monkeypatch):
    monkeypatch.setattr("server.contact.mail._is_here", lambda host: False)
    with (
        mail_server(post, tls_context=tls) as port,
        pytest.raises(NotDelivered, match=r"certificate verify failed"),
    ):
        MailServer(f"smtp://127.0.0.1:{port}", 5, HERE).send(mail)
    assert post.letters == []


def test_a_server_elsewhere_that_cannot_encrypt_gets_nothing_unless_it_is_said(mail, post, monkeypatch):
    monkeypatch.setattr("server.contact.mail._is_here", lambda host: False)
    with mail_server(post) as port:
        with pytest.raises(NotDelivered, match="offers no STARTTLS"):
            MailServer(f"smtp://127.0.0.1:{port}", 5, HERE).send(mail)
        assert post.letters == []
        MailServer(f"smtp://127.0.0.1:{port}?tls=off", 5, HERE).send(mail)
    assert len(post.letters) == 1


def test_a_wrong_password_is_said_without_the_password(mail, post):
    options = {"auth_require_tls": False, "authenticator": post.authenticate}
    with mail_server(post, **options) as port, pytest.raises(NotDelivered) as caught:
        MailServer(f"smtp://docent:hunter2@127.0.0.1:{port}", 5, HERE).send(mail)
    assert "refused the user or the password of SMTP_URL" in str(caught.value)
    assert "hunter2" not in str(caught.value)


def test_what_was_taken_counts_as_sent_even_when_the_server_hangs_up_without_a_word(office, post):
    class HangsUp(Post):
        async def handle_QUIT(self, server, session, envelope):
            return "500 No goodbye"

    rude = HangsUp()
    with mail_server(rude) as port:
        office.settings = office.settings.with_values({"smtp_url": f"smtp://127.0.0.1:{port}"})
        office.outbox = office.new_outbox()
        office.write()
        office.send_until_idle()
    assert len(rude.letters) == 1
    assert office.log()[0][1] == "sent"


# --- Doctor


@pytest.fixture
def diagnose(tmp_path, capsys):
    """The line of `doctor` about mail, with these settings and options of the only site."""

    def run(contact, **settings):
        runtime = open_runtime(Settings.of(data_dir=tmp_path, **settings))
        if not runtime.stores.sites.find("shop"):
            runtime.stores.sites.create(Site("shop", "Shop", "Shop", options={"contact": contact}))
        try:
            return doctor._mail(runtime)
        except doctor.Failed as error:
            return f"FAIL {error}"
        finally:
            runtime.close()

    return run


def test_doctor_says_whether_mail_can_be_sent_and_sends_none(diagnose, smtp_url, post):
    port = smtp_url.rpartition(":")[2]
    assert diagnose({}) == "none, and no site needs one"
    assert diagnose({}, smtp_url=smtp_url, mail_from=FROM) == f"127.0.0.1:{port} answers"
    assert post.letters == []
    wrong = diagnose({}, smtp_url=f"smtp://docent:hunter2@127.0.0.1:{port}", mail_from=FROM)
    assert wrong.startswith("FAIL")
    assert "check SMTP_URL" in wrong
    assert "hunter2" not in wrong


def test_doctor_misses_the_mail_server_of_a_site_that_needs_one(diagnose):
    assert diagnose(MAIL) == "FAIL messages of shop go to an e-mail address: set SMTP_URL and MAIL_FROM"
