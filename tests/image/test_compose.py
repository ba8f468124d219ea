"""compose.yaml, both ways: Docent alone, and with --profile scale on PostgreSQL, Redis and Chroma behind Caddy."""

import json
import re
import ssl
import time

import pytest

from tests.image.conftest import QUESTION, Client, assert_cited
from tests.image.engine import BASE, HERE, IMAGE, ROOT, SERVICES
from tests.servers import free_port


class Project:
    """A project of Compose with its own name, volumes and ports."""

    def __init__(self, engine, command, name, environment, *options):
        self.engine, self.name, self.environment = engine, name, environment
        self.command = [*command, "-p", name, *options]

    def __call__(self, *arguments, timeout=900):
        return self.engine.run([*self.command, *arguments], environment=self.environment, timeout=timeout)

    def containers(self, service):
        """Their ids, running or not."""
        filters = (f"project={self.name}", f"service={service}")
        found = self.engine(
            "ps", "-aq", "--no-trunc", *(f"--filter=label=com.docker.compose.{one}" for one in filters)
        )
        return found.split()

    def logs(self):
        return self.engine.run(
            [*self.command, "logs", "--tail=40"], environment=self.environment, check=False
        ).stdout


def test_alone_it_answers_from_its_own_documentation(engine, image, compose):
    port = free_port()
    project = Project(engine, compose, "docent-test-one", {"PORT": str(port), "DOCENT_IMAGE": IMAGE})
    try:
        project("up", "-d", "--no-build")
        [container] = project.containers("docent")
        engine.wait(container)
        sites = []
        while not sites:
            sites = json.loads(engine("exec", container, "python", "-m", "server", "sites", "--json"))
        visitor = Client(f"http://127.0.0.1:{port}")
        answer = visitor.ask_until_answered(sites[0]["id"], "How do I make a backup?")
        assert (answer["outcome"], "backup" in answer["answer"].lower()) == ("answered", True), answer
        assert re.fullmatch(r"http://127.0.0.1:8000/docs/\S+", answer["citations"][0]["url"]), answer
        assert "setup#token=" in engine("exec", container, "cat", "/data/setup-link.txt")
        project("restart")
        engine.wait(container)
        assert visitor.ask(sites[0]["id"], "How do I make a backup?")["outcome"] == "answered"
    finally:
        project("down", "-v")


@pytest.fixture
def scaled(engine, image, services, compose, website, tmp_path):
    """The whole of --profile scale, started."""
    https = free_port()
    environment = {
        "DOCENT_IMAGE": IMAGE, "DOCENT_ALONE": "0", "DOCENT_DOMAIN": "localhost", "SECRET_KEY": "k" * 40,
        "POSTGRES_PASSWORD": "secret", "HTTP_PORT": str(free_port()), "HTTPS_PORT": str(https),
        "TEST_BASE": BASE, "TEST_SERVICES": SERVICES, "TEST_SITE": str(website),
        "TEST_CADDYFILE": str(caddyfile(engine, tmp_path)),
    }  # fmt: skip
    files = ("-f", ROOT / "compose.yaml", "-f", HERE / "override.yaml", "--profile", "scale")
    project = Project(engine, compose, "docent-test-scale", environment, *files)
    project.https = https
    try:
        project("up", "-d", "--no-build")
        yield project
    finally:
        print(project.logs())
        project("down", "-v")


def caddyfile(engine, folder):
    """deploy/Caddyfile, spelled for the version of Caddy that Debian has."""
    text = (ROOT / "deploy" / "Caddyfile").read_text(encoding="utf-8")
    if engine("run", "--rm", SERVICES, "caddy", "version").startswith(("2.6", "v2.6")):
        assert "request_buffers 64KB" in text
        text = text.replace("request_buffers 64KB", "buffer_requests\n\t\tmax_buffer_size 64KB")
    file = folder / "Caddyfile"
    file.write_text(text, encoding="utf-8")
    return file


def test_scaled_two_web_servers_behind_tls_answer_what_a_worker_crawled(engine, scaled, tmp_path):
    web, workers = scaled.containers("web"), scaled.containers("worker")
    assert (len(web), len(workers), scaled.containers("docent")) == (2, 2, [])
    for container in web:
        engine.wait(container)
    # The address of the site was given as a setting; at scale nobody adds it by itself.
    shown = engine("exec", web[0], "python", "-m", "server.commands.onboarding")
    assert "site-8080 is ready" in shown, shown
    assert any("site-8080" in engine.logs(worker) for worker in workers), (
        "a worker crawled, not the web server"
    )

    [caddy] = scaled.containers("caddy")
    authority = tmp_path / "root.crt"
    engine("cp", f"{caddy}:/data/caddy/pki/authorities/local/root.crt", authority)
    visitor = Client(
        f"https://localhost:{scaled.https}", context=ssl.create_default_context(cafile=authority)
    )
    assert_cited(visitor.ask_until_answered("site-8080", QUESTION), "http://site:8080/delivery.html")

    for _ in range(20):
        visitor.post("/api/v1/visitors", {"site": "site-8080"})
    served = [engine.logs(container).count("POST /api/v1/visitors 200") for container in web]
    print(f"visitors that each web server got: {served}")
    assert min(served) > 0, f"Caddy asked one of them only: {served}"

    invited = engine("exec", web[0], "python", "-m", "server", "operators", "invite", "ada@example.com")
    assert "https://localhost/admin/" in invited, invited

    engine("kill", web[0])
    answers = [visitor.ask("site-8080", QUESTION)["outcome"] for _ in range(10)]
    assert answers == ["answered"] * 10
    engine("kill", *workers)
    engine("start", web[0], workers[0])
    engine.wait(web[0])
    shown = engine("exec", web[0], "python", "-m", "server", "doctor")
    print(shown)
    assert "postgresql answers, schema is up to date" in shown
    assert "Redis answers" in shown
    assert "Chroma answers at http://chroma:8000" in shown

    began = time.monotonic()
    engine("stop", "-t", "30", web[1])
    print(f"a web server stopped after {time.monotonic() - began:.1f} s")
    assert engine.inspect(web[1], "{{.State.ExitCode}}") == "0"
    assert visitor.ask("site-8080", QUESTION)["outcome"] == "answered"


def test_without_a_key_of_their_own_the_replicas_do_not_start(engine, image):
    said = engine("run", "--rm", "--entrypoint=sh", image, "-c", prepare_script(), check=False)
    assert said.returncode == 1
    assert "Set SECRET_KEY" in said.stdout


def prepare_script():
    text = (ROOT / "compose.yaml").read_text(encoding="utf-8")
    script = re.search(r"- (test -n .*?)\n    healthcheck", text, re.S)[1]
    return " ".join(script.split()).replace("$$", "$")


def test_the_server_of_vectors_has_the_version_of_its_client():
    pinned = re.search(r"^chromadb==(\S+)", (ROOT / "requirements.txt").read_text(), re.M)[1]
    assert f"image: chromadb/chroma:{pinned}\n" in (ROOT / "compose.yaml").read_text()


def test_every_public_image_is_pinned():
    images = re.findall(r"image: (\S+)", (ROOT / "compose.yaml").read_text())
    public = [name for name in images if not name.startswith("${DOCENT_IMAGE")]
    assert len(public) == 4
    assert all(re.search(r":\d+\.\d+(\.\d+)?", name) for name in public)
