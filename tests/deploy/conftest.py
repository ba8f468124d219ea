"""Docent behind the real nginx and the real Caddy, with the files of deploy/."""

import http.client
import shutil
import socket
import ssl
import subprocess
import time
from contextlib import contextmanager, suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from admin.people.passwords import hash_password
from server.domain.roles import Role
from tests.api.conftest import SHOP, make_settings
from tests.api.scripted import open_scripted
from tests.api.test_serving import Server
from tests.conftest import missing_program
from tests.servers import free_port

DEPLOY = Path(__file__).parents[2] / "deploy"
NAME = "docent.example.com"
EMAIL, PASSWORD = "owner@example.com", "correct horse battery"
SOON = "1s"
"""In place of each time-out for slow clients, so that the tests need not wait for it."""


@pytest.fixture(scope="session")
def docent(tmp_path_factory):
    """The server as the examples want it: one trusted proxy, https."""
    with serving(tmp_path_factory.mktemp("deploy"), f"https://{NAME}") as server:
        yield server


@contextmanager
def serving(folder, public_url):
    runtime = open_scripted(make_settings(folder), None)
    runtime.stores.sites.create(SHOP)
    runtime.people.operators.create(EMAIL, hash_password(PASSWORD), Role.OWNER)
    runtime.close()
    settings = {
        "public_url": public_url,
        "trusted_proxies": "1",
        "token_limit": "5/minute",
        "login_limit": "1000/minute",
    }
    given = [f"--set={name}={value}" for name, value in settings.items()]
    server = Server(folder / "data", "--workers=1", "--threads=64", "--words=10", "--pause=0.1", *given)
    try:
        server.wait_until_ready()
        yield server
    finally:
        server.stop()


@pytest.fixture(scope="session")
def certificate(tmp_path_factory):
    """Files of a self-signed certificate and its key."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, NAME)])
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(datetime.now(UTC) - timedelta(days=1))
        .not_valid_after(datetime.now(UTC) + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(NAME)]), critical=False)
        .sign(key, hashes.SHA256())
    )
    folder = tmp_path_factory.mktemp("certificate")
    files = folder / "fullchain.pem", folder / "privkey.pem"
    files[0].write_bytes(made.public_bytes(serialization.Encoding.PEM))
    files[1].write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )
    )
    return files


def answer_on(connection, method, path, body=None, headers=()):
    """The response, which closes the connection with itself."""
    try:
        connection.request(method, path, body, {"Host": NAME, "Connection": "close"} | dict(headers))
        return connection.getresponse()
    except BaseException:
        connection.close()
        raise


class Proxy:
    """A proxy in front of Docent. A request comes from the address number `source` of the proxy's own clients,
    for Docent counts requests by address, and both proxies lead to one server."""

    def __init__(self, clients, http_port, https_port, log):
        self.clients = clients
        self.http_port, self.port, self.log = http_port, https_port, log

    def connect(self, source=1, name=NAME):
        """A TLS connection to the host `name`."""
        context = ssl.create_default_context()
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        plain = socket.create_connection(
            ("127.0.0.1", self.port), timeout=20, source_address=(f"{self.clients}.{source}", 0)
        )
        return context.wrap_socket(plain, server_hostname=name)

    def begin(self, method, path, body=None, headers=(), source=1):
        """The response, whose body has not been read yet."""
        connection = http.client.HTTPSConnection(NAME, self.port)
        connection.sock = self.connect(source)
        return answer_on(connection, method, path, body, headers)

    def ask(self, method, path, body=None, headers=(), source=1):
        """(status, headers, body)."""
        with self.begin(method, path, body, headers, source) as answer:
            return answer.status, answer.headers, answer.read().decode()


@contextmanager
def started(command, folder, clients, ports):
    """The process of a proxy, from when it listens."""
    log = folder / "proxy.log"
    with log.open("wb") as output:
        process = subprocess.Popen(command, cwd=folder, stdout=output, stderr=output)
    try:
        end = time.monotonic() + 30
        while True:
            assert process.poll() is None, log.read_text()
            with suppress(OSError):
                socket.create_connection(("127.0.0.1", ports[1]), timeout=5).close()
                break
            assert time.monotonic() < end, log.read_text()
            time.sleep(0.02)
        yield Proxy(clients, *ports, log)
    finally:
        process.terminate()
        process.wait(20)


def changed(text, *pairs):
    """`text` with each first of a pair replaced; each must be there."""
    for old, new in pairs:
        assert old in text, old
        text = text.replace(old, str(new))
    return text


@contextmanager
def nginx(docent, certificate, folder, path="", ports=None, soon=SOON):
    """`path` is written in front of both locations, as the file says."""
    program = shutil.which("nginx") or missing_program("nginx", "apt-get install nginx")
    ports = ports or (free_port(), free_port())
    site = changed(
        (DEPLOY / "nginx.conf").read_text(encoding="utf-8"),
        ("    location /", f"    location {path}/"),
        ("listen 80", f"listen 127.0.0.1:{ports[0]}"),
        ("listen 443", f"listen 127.0.0.1:{ports[1]}"),
        ("127.0.0.1:8000", f"127.0.0.1:{docent.port}"),
        (f"/etc/letsencrypt/live/{NAME}/fullchain.pem", certificate[0]),
        (f"/etc/letsencrypt/live/{NAME}/privkey.pem", certificate[1]),
        ("/var/log/nginx/docent.log", folder / "access.log"),
        ("client_header_timeout 10s", f"client_header_timeout {soon}"),
        ("client_body_timeout 10s", f"client_body_timeout {soon}"),
    )
    (folder / "site.conf").write_text(site, encoding="utf-8")
    temporary = "".join(
        f"{kind}_temp_path {folder}/{kind};" for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    )
    (folder / "nginx.conf").write_text(
        f"pid {folder}/nginx.pid; error_log stderr; daemon off; worker_processes 1; user root;"
        f"events {{ worker_connections 4096; }} http {{ {temporary} include site.conf; }}",
        encoding="utf-8",
    )
    with started([program, "-p", str(folder), "-c", "nginx.conf"], folder, "127.0.2", ports) as proxy:
        proxy.access_log = folder / "access.log"
        yield proxy


@contextmanager
def caddy(docent, certificate, folder, path="", ports=None):
    """`path` is written where the file says."""
    program = shutil.which("caddy") or missing_program("Caddy", "apt-get install caddy")
    ports = ports or (free_port(), free_port())
    version = subprocess.run([program, "version"], capture_output=True, text=True, check=True).stdout
    buffering = "request_buffers 64KB"
    site = changed(
        (DEPLOY / "Caddyfile").read_text(encoding="utf-8"),
        # As the file says for this older version, which Debian 12 has.
        (buffering, "buffer_requests\n\t\tmax_buffer_size 64KB" if "2.6." in version else buffering),
        ("{\n\tservers {", f"{{\n\tadmin off\n\thttp_port {ports[0]}\n\thttps_port {ports[1]}\n\tservers {{"),
        (f":{NAME}}} {{", f":{NAME}}} {{\n\tbind 127.0.0.1\n\ttls {certificate[0]} {certificate[1]}"),
        ("127.0.0.1:8000", f"127.0.0.1:{docent.port}"),
        ("read_header 10s", f"read_header {SOON}"),
        ("read_body 2m", f"read_body {SOON}"),
        ("path /admin/*", f"path {path}/admin/*"),
        ("reverse_proxy ", f"reverse_proxy {path}/* " if path else "reverse_proxy "),
        ("\tlog {\n", f"\tlog {{\n\t\toutput file {folder}/access.log\n"),
    )
    (folder / "Caddyfile").write_text(site, encoding="utf-8")
    command = [program, "run", "--adapter", "caddyfile", "--config", str(folder / "Caddyfile")]
    with started(command, folder, "127.0.3", ports) as proxy:
        proxy.access_log = folder / "access.log"
        yield proxy


@pytest.fixture(scope="session", params=[nginx, caddy], ids=lambda each: each.__name__)
def proxy(request, docent, certificate, tmp_path_factory):
    """Each proxy in turn."""
    folder = tmp_path_factory.mktemp(request.param.__name__)
    with request.param(docent, certificate, folder) as made:
        yield made
