"""compose.yaml, both ways: Docent alone, and with --profile scale on PostgreSQL, Redis and Chroma behind Caddy."""

import json
import re
import ssl
import time
from contextlib import suppress
from urllib.parse import urlencode

import pytest
import yaml

from server.settings import Settings
from server.storage.engines import POSTGRESQL_CONNECTIONS
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
    settings = tmp_path / "settings.env"
    settings.write_text("LOG_FORMAT=json\n")
    environment = {
        "DOCENT_ENV": str(settings), "PROMETHEUS_PORT": str(free_port()),
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

    assert_requests_are_found_in_the_logs(engine, scaled, visitor)
    assert_prometheus_finds_every_replica(scaled)

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
    assert_the_documented_way_back_restores(engine, scaled, visitor)


def assert_requests_are_found_in_the_logs(engine, scaled, visitor):
    """The lines of web servers and workers are JSON, and the id of a request leads to its line."""
    with visitor.open("/api/v1/visitors", json.dumps({"site": "site-8080"}).encode()) as answer:
        given = answer.headers["X-Request-ID"]
    lines = []
    for service in ("web", "worker"):
        for container in scaled.containers(service):
            lines += map(json.loads, engine.logs(container).splitlines())
    found = [line for line in lines if line.get("request_id") == given]
    assert [(line["logger"], line["path"], line["status"]) for line in found] == [
        ("docent.web", "/api/v1/visitors", 200)
    ]


def assert_prometheus_finds_every_replica(scaled):
    """With the profile `monitoring`, whose Grafana cannot be had here."""
    scaled("up", "-d", "--no-build", "prometheus")
    prometheus = Client(f"http://127.0.0.1:{scaled.environment['PROMETHEUS_PORT']}")

    def asked(query):
        found = prometheus.get("/api/v1/query?" + urlencode({"query": query}))["data"]["result"]
        return float(found[0]["value"][1]) if found else 0

    end = time.monotonic() + 600
    while (up := eventual(lambda: asked('count(up{job="docent"} == 1)'))) != 4:
        assert time.monotonic() < end, up
        time.sleep(1)
    assert asked('sum(docent_questions_total{outcome="answered"})') >= 1
    assert asked("max(docent_queue_depth)") == 0
    [group] = prometheus.get("/api/v1/rules")["data"]["groups"]
    assert {rule["health"] for rule in group["rules"]} <= {"ok", "unknown"}


def eventual(found):
    """The value, or None while nothing answers."""
    with suppress(OSError):
        return found()


def assert_the_documented_way_back_restores(engine, scaled, visitor):
    """The commands of docs/containers.md, with a backup as one that an upgrade makes."""
    scaled(
        "run", "--rm", "prepare", "mkdir -p /data/backups && python -m server backup /data/backups/before.zip"
    )
    scaled("stop", "web", "worker")
    scaled(
        "exec", "-T", "-e", "PGPASSWORD=secret", "postgres", "psql", "--host=/tmp", "--username=docent", "postgres",
        "-c", "ALTER DATABASE docent RENAME TO docent_newer", "-c", "CREATE DATABASE docent",
    )  # fmt: skip
    assert "before.zip" in scaled("run", "--rm", "prepare", "ls /data/backups")
    scaled("run", "--rm", "prepare", "python -m server restore --yes /data/backups/before.zip")
    scaled("up", "-d", "--no-build")
    assert_cited(visitor.ask_until_answered("site-8080", QUESTION), "http://site:8080/delivery.html")


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


def test_every_replica_gets_both_keys():
    services = yaml.safe_load((ROOT / "compose.yaml").read_text())["services"]
    for name in ("prepare", "web", "worker"):
        given = services[name]["environment"]
        assert (given["SECRET_KEY"], given["SECRET_KEY_OLD"]) == ("${SECRET_KEY:-}", "${SECRET_KEY_OLD:-}")


def test_postgresql_takes_the_connections_of_ten_web_servers_and_ten_workers():
    command = yaml.safe_load((ROOT / "compose.yaml").read_text())["services"]["postgres"]["command"]
    most = int(command[-1].removeprefix("max_connections="))
    processes = 10 * Settings().serving.web_workers + 10
    assert most >= processes * POSTGRESQL_CONNECTIONS


def test_every_public_image_is_pinned():
    images = re.findall(r"image: (\S+)", (ROOT / "compose.yaml").read_text())
    public = [name for name in images if not name.startswith("${DOCENT_IMAGE")]
    assert len(public) == 6
    assert all(re.search(r":v?\d+\.\d+(\.\d+)?", name) for name in public)


def test_grafana_gets_the_dashboard_and_prometheus():
    """Grafana is not run here: these are the places where it looks, as its documentation says."""
    grafana = yaml.safe_load((ROOT / "compose.yaml").read_text())["services"]["grafana"]
    given = dict(volume.split(":")[:2] for volume in grafana["volumes"])
    assert all((ROOT / file).is_file() for file in given)
    files = {path: file for file, path in given.items()}
    [source] = yaml.safe_load(
        (ROOT / files["/etc/grafana/provisioning/datasources/docent.yaml"]).read_text()
    )["datasources"]
    assert (source["type"], source["url"]) == ("prometheus", "http://prometheus:9090")
    [provider] = yaml.safe_load(
        (ROOT / files["/etc/grafana/provisioning/dashboards/docent.yaml"]).read_text()
    )["providers"]
    assert files[provider["options"]["path"] + "/docent.json"] == "./deploy/grafana/docent.json"
