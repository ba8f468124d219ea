"""Real receivers: a mail server, and a web server that does what the test tells it."""

import datetime
import ipaddress
import shutil
import ssl
import threading
import time
from contextlib import contextmanager
from dataclasses import dataclass, field
from email import message_from_bytes
from email.policy import default
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from aiosmtpd.controller import Controller
from aiosmtpd.smtp import AuthResult
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from server.contact.outbox import open_outbox
from server.domain.answer import Answer, Citation, Message, Outcome
from server.domain.contact import Channel
from server.domain.site import Site
from server.settings import Settings
from server.storage.conversations.conversations import ConversationStore
from server.storage.database import Database
from server.storage.delivery.contact import ContactStore
from server.storage.delivery.deliveries import message_deliveries
from server.storage.sealed import Seal
from server.storage.sites.incidents import IncidentStore
from server.storage.sites.sites import SiteStore

SECRET = "a secret that only both sides know"
SEAL = Seal("a secret of the tests")
FROM = "Docent <docent@shop.example>"


def pytest_configure(config):
    if not config.pluginmanager.has_plugin("tests.server_fixtures"):
        config.pluginmanager.import_plugin("tests.server_fixtures")


# --- The mail server


@dataclass
class Post:
    """What a mail server took; `answers` are what it says to the next letters, before it takes them."""

    letters: list = field(default_factory=list)
    envelopes: list = field(default_factory=list)
    answers: list = field(default_factory=list)
    logins: list = field(default_factory=list)

    async def handle_DATA(self, server, session, envelope):
        if self.answers:
            return self.answers.pop(0)
        self.envelopes.append((envelope.mail_from, envelope.rcpt_tos))
        self.letters.append(message_from_bytes(envelope.content, policy=default))
        return "250 OK"

    def authenticate(self, server, session, envelope, mechanism, data):
        self.logins.append((data.login.decode(), data.password.decode()))
        return AuthResult(success=data.password == b"p@ss/word", handled=data.password == b"p@ss/word")


class AnyPort(Controller):
    """On a port that is free, which the library asks for under the number that it was given."""

    def _trigger_server(self):
        self.port = self.server.sockets[0].getsockname()[1]
        super()._trigger_server()


@contextmanager
def mail_server(post, **options):
    """A mail server on this machine; gives its port."""
    controller = AnyPort(post, hostname="127.0.0.1", port=0, **options)
    controller.start()
    try:
        yield controller.port
    finally:
        controller.stop()


@pytest.fixture
def post():
    return Post()


@pytest.fixture
def smtp_url(post):
    with mail_server(post) as port:
        yield f"smtp://127.0.0.1:{port}"


@pytest.fixture(scope="session")
def certificate(tmp_path_factory):
    """A certificate of 127.0.0.1 that signs itself: (file with the certificate, file with its key)."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "127.0.0.1")])
    today = datetime.datetime.now(datetime.UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(today - datetime.timedelta(days=1))
        .not_valid_after(today + datetime.timedelta(days=1))
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .add_extension(
            x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]), critical=False
        )
        .sign(key, hashes.SHA256())
    )
    folder = tmp_path_factory.mktemp("certificate")
    (folder / "cert.pem").write_bytes(made.public_bytes(serialization.Encoding.PEM))
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    (folder / "key.pem").write_bytes(private)
    return folder / "cert.pem", folder / "key.pem"


@pytest.fixture
def tls(certificate):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*certificate)
    return context


# --- The web server


@dataclass
class Receiver:
    """A web server that answers as told: a status, (status, headers), or seconds of silence before 200."""

    answers: list = field(default_factory=list)
    requests: list = field(default_factory=list)
    """(path, headers, body) of each."""
    address: str = ""
    leaving: threading.Event = field(default_factory=threading.Event)

    def handler(self):
        receiver = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                receiver.requests.append((self.path, self.headers, body))
                said = receiver.answers.pop(0) if receiver.answers else 200
                if isinstance(said, float):
                    receiver.leaving.wait(said)
                    said = 200
                status, headers = said if isinstance(said, tuple) else (said, {})
                self.send_response(status)
                for name, value in headers.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def do_GET(self):
                receiver.requests.append((self.path, self.headers, b"GET"))
                self.send_error(404)

            def log_message(self, *arguments):
                pass

        return Handler


@pytest.fixture
def receiver():
    made = Receiver()
    server = ThreadingHTTPServer(("127.0.0.1", 0), made.handler())
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), name="receiver")
    thread.start()
    made.address = f"http://127.0.0.1:{server.server_port}"
    yield made
    made.leaving.set()
    server.shutdown()
    thread.join()
    server.server_close()


# --- A site that takes messages


@dataclass
class Office:
    """Stores with one site, and what sends its messages."""

    database: Database
    settings: Settings
    site: Site

    def __post_init__(self):
        self.sites = SiteStore(self.database)
        self.conversations = ConversationStore(self.database)
        self.contact = ContactStore(self.database)
        self.deliveries = message_deliveries(self.database)
        self.incidents = IncidentStore(self.database)
        self.outbox = self.new_outbox()

    def new_outbox(self):
        """As a worker that starts makes it."""
        return open_outbox(self.database, self.incidents, lambda: self.settings, lambda: SEAL)

    def write(self, message="Please call me about my lamp.", email="vera@visitor.example", conversation=None):
        site = self.sites.get(self.site.id)
        channels = [Channel(name) for name in Channel if site.options["contact"].get(name)]
        return self.contact.add(site.id, "visitor", email, message, conversation, channels)

    def send_until_idle(self, within_s=10.0):
        """Makes every try that comes due, as a worker does, until nothing waits any more."""
        ending = time.monotonic() + within_s
        while self.deliveries.of([request.id for request in self.contact.recent()]):
            while self.outbox.send_next():
                pass
            if not self.waiting():
                return
            assert time.monotonic() < ending, self.log()
            time.sleep(0.01)

    def waiting(self):
        known = self.deliveries.of([request.id for request in self.contact.recent()])
        return [one for ways in known.values() for one in ways if one.state == "waiting"]

    def log(self):
        """(channel, state, [(arrived, says)]) of every delivery."""
        known = self.deliveries.of([request.id for request in self.contact.recent()])
        return [
            (one.channel.value, one.state.value, [(tried.arrived, tried.says) for tried in one.log])
            for ways in known.values()
            for one in ways
        ]


@pytest.fixture
def office_database(migrated_sqlite, tmp_path):
    """Where the office keeps what is written; test files may put another kind in its place."""
    shutil.copyfile(migrated_sqlite, tmp_path / "docent.db")
    database = Database(f"sqlite:///{tmp_path}/docent.db")
    yield database
    database.close()


@pytest.fixture
def make_office(office_database, tmp_path):
    """Makes an office with these ways of contact and settings."""

    def make(contact, *, options=None, **settings):
        site = Site(
            "shop", "Shop", "The\nLantern Shop", ("https://shop.example/",),
            options={"contact": contact, **(options or {})},
        )  # fmt: skip
        SiteStore(office_database).create(site)
        quick = {
            "contact_retry_s": 0.01,
            "contact_timeout_s": 5.0,
            "mail_from": FROM,
            "contact_tries": 4,
            "private_hosts": "127.0.0.1",
        }
        return Office(office_database, Settings.of(data_dir=tmp_path, **quick | settings), site)

    return make


CITATION = Citation(
    1, "https://shop.example/delivery", "Delivery", "two days",
    "https://shop.example/delivery#:~:text=two%20days",
)  # fmt: skip


def talk(office, questions=("How long does delivery take?",), visitor="visitor"):
    """A conversation of the visitor; returns its id."""
    id = office.conversations.start(office.site.id, visitor)
    for number, question in enumerate(questions):
        answer = Answer(Outcome.ANSWERED, "Delivery takes **two days**. [1]", (CITATION,))
        asked_at = datetime.datetime.now(datetime.UTC)
        office.conversations.add(
            Message(f"{id}-{number}", id, office.site.id, asked_at, question, question, "en", answer)
        )
    return id


def text_of(mail):
    """The text of a letter with line ends as they were written."""
    return mail.get_content().replace("\r\n", "\n")
