"""A whole installation of replicas on this machine: PostgreSQL, Redis, Chroma, web servers behind nginx, workers.

Each part is a process that can be killed, paused and started again at the same address.
"""

import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections import Counter
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory

import psycopg

from server.domain.site import Site
from server.indexes.vectors import open_chroma
from server.jobs.crawl_control import CrawlControl
from server.jobs.queue import JobQueue
from server.storage.content.reader import ContentReader
from server.storage.crawls.runs import CrawlStore
from server.storage.database import Database
from server.storage.sites.sites import SiteStore
from tests.deploy.conftest import NAME, nginx
from tests.jobs.conftest import SlowWebsite
from tests.openai_replies import grounded_reply
from tests.openai_server import OpenAIServer
from tests.server_fixtures import missing
from tests.servers import HOST, MissingProgram, _postgresql_program, _unprivileged_user, free_port
from tests.websites import Website, serve

ROOT = Path(__file__).parents[2]
PATIENCE_S = 120
"""For anything that happens sooner or later, on a machine that does something else as well."""
HELD_AFTER = 10
"""Pages of a crawl that are read before the fault."""
MOST_AGAIN = HELD_AFTER + 4
DISK_MB = 160
"""Size of the disk that a test fills."""


def until(condition, what, seconds=PATIENCE_S):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, f"{what() if callable(what) else what} in {seconds} s"
        time.sleep(0.05)


class Part:
    """A process with its children, which leads a process group."""

    def __init__(self, name, command, answers, folder, *, user=None, environment=None, cwd=None):
        self.name, self.command, self.answers = name, command, answers
        self.user, self.environment, self.cwd = user, environment, cwd or folder
        self.log = folder / f"{name}.log"
        self.process = None

    def start(self):
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                self.command, cwd=self.cwd, user=self.user, env=self.environment, start_new_session=True,
                stdin=subprocess.DEVNULL, stdout=log, stderr=log,
            )  # fmt: skip

    def wait_until_ready(self):
        until(self._is_ready, lambda: f"{self.name} does not get ready: {self.says()[-3000:]}")

    def _is_ready(self):
        assert self.process.poll() is None, f"{self.name} ended: {self.says()[-3000:]}"
        return self.answers()

    def send(self, number):
        with suppress(ProcessLookupError):
            os.killpg(self.process.pid, number)

    def kill(self):
        self.send(signal.SIGKILL)
        self.process.wait(20)

    def stop(self, number=signal.SIGTERM):
        self.process.send_signal(number)
        self.process.wait(40)

    def restart(self):
        self.start()
        self.wait_until_ready()

    def says(self):
        return self.log.read_text(errors="replace")


class Shop(Website):
    """A page for each of thirty lamps."""

    def __init__(self):
        self.lamps = [
            f"{a}{b}ra" for a in ("Ba", "Ke", "Lo", "Mi", "Nu", "Pa") for b in ("do", "fe", "gi", "lu", "ta")
        ]
        links = "".join(f"<li><a href='/{lamp}'>{lamp} lamp</a></li>" for lamp in self.lamps)
        pages = {"/": ("Lamps", f"<p>The shop sells lamps.</p><ul>{links}</ul>")}
        for lamp in self.lamps:
            pages[f"/{lamp}"] = (
                f"{lamp} lamp",
                f"<h2>About the {lamp} lamp</h2><p>{' '.join(self.facts(lamp))}</p>",
            )
        super().__init__("Lantern Shop", pages)

    def facts(self, lamp):
        number = self.lamps.index(lamp) + 10
        return (
            f"The {lamp} lamp costs {number}.90 EUR in the shop.",
            f"The {lamp} lamp is {number + 20} cm high and stands on three feet.",
            f"The {lamp} lamp is sold in red, blue and grey.",
            f"Spare bulbs for the {lamp} lamp come in boxes of {number}.",
        )

    def reply(self, request):
        """All that the given chunks say of the lamp that was asked for, as a model would put it."""
        text = str(request["messages"][-1]["content"])
        asked = re.findall(r"^Question:.*?(\w+) lamp", text, re.M)
        for number, chunk in re.findall(r'<chunk\s+number="(\d+)"[^>]*>(.*?)</chunk>', text, re.S):
            if asked and self.facts(asked[-1])[0] in chunk:
                answer = " ".join(f"{fact} [{number}]" for fact in self.facts(asked[-1]))
                return '{"answer": "' + answer + '"}'
        return grounded_reply(request)


class Crawl:
    """A crawl of the slow website that is held in the middle until it is released."""

    def __init__(self, cluster):
        self.cluster, self.website = cluster, cluster.slow
        self.before = len(self.website.requests)
        self.website.hold_after = self.before + HELD_AFTER
        self.id = cluster.control.start("slow")
        until(lambda: self.website.is_holding, lambda: f"the crawl does not begin: {self.run}")

    @property
    def run(self):
        return self.cluster.crawls.get(self.id)

    def worker(self):
        """The worker that holds it, and the other one."""
        pid = self.run.holder.split()[1]
        return sorted(self.cluster.workers, key=lambda one: str(one.process.pid) != pid)

    def release(self):
        self.website.hold_after = None

    def check(self, cuts=1):
        """It ends, once, and has read every page once, but for those of the moment at which it was cut off."""
        self.release()

        def is_done():
            run = self.run
            assert run.state in ("waiting", "running", "done"), run
            return run.state == "done"

        until(is_done, lambda: f"the crawl does not end: {self.run}")
        requests = Counter(
            path for path in self.website.requests[self.before :] if path in self.website.pages
        )
        assert set(requests) == set(self.website.pages)
        # Those that were not in the index yet when the crawl was cut off.
        twice = sum(requests.values()) - len(requests)
        assert twice <= cuts * MOST_AGAIN, f"{twice} pages were read again"
        assert self.cluster.crawls.latest("slow").id == self.id, "another crawl was started"
        pages = [page.url for page in ContentReader(self.cluster.database, "slow").pages(limit=1000)]
        assert sorted(pages) == sorted({f"{self.website.url}{path}" for path in self.website.pages})
        live = {chunk.id for chunk in ContentReader(self.cluster.database, "slow").every_chunk()}
        until(lambda: self.cluster.vector_ids("slow") == live, "the vectors are not those of the pages", 20)
        return f"crawl once, {twice} pages read again"


class Cluster:
    def __init__(self, folder, model_cache, stack, *, replicas=2, workers=2):
        self.folder, self.model_cache, self.stack = folder, model_cache, stack
        self.shop = stack.enter_context(serve(Shop()))
        self.slow = stack.enter_context(serve(SlowWebsite()))
        self.model = stack.enter_context(
            OpenAIServer(script=self.shop.reply, token_delay_s=0.12, piece_chars=16)
        )
        self.postgresql, self.redis, self.chroma = self._postgresql(), self._redis(), self._chroma()
        self.web = [self._docent(f"web{number}", "web") for number in range(replicas)]
        self.workers = [self._docent(f"worker{number}", "worker") for number in range(workers)]
        self.parts = [self.postgresql, self.redis, self.chroma, *self.web, *self.workers]

    def start(self, certificate):
        for part in self.parts[:3]:
            part.start()
        for part in self.parts[:3]:
            part.wait_until_ready()
        self.database = Database(self.database_url)
        self.stack.callback(self.database.close)
        self.database.migrate()
        self.crawls = CrawlStore(self.database)
        jobs = JobQueue(self.folder, self.redis_url)
        self.stack.callback(jobs._redis.pool.disconnect)
        self.control = CrawlControl(
            self.crawls, jobs.register("refresh_site", lambda site_id, crawl_id: None)
        )
        for id, site in (("shop", self.shop), ("slow", self.slow)):
            SiteStore(self.database).create(Site(id, id, "", (f"{site.url}/",), language="en"))
        for part in self.parts[3:]:
            part.start()
        self.control.start("shop")
        until(lambda: self.crawls.latest("shop").state == "done", lambda: str(self.crawls.latest("shop")))
        for part in self.parts[3:]:
            part.wait_until_ready()
        self.proxy = self.stack.enter_context(nginx(self, certificate, self.folder, soon="30s"))

    @property
    def port(self):
        """As deploy/nginx.conf has it, with a line for each replica."""
        ports = [part.port for part in self.web]
        return " fail_timeout=2s; server 127.0.0.1:".join(map(str, ports)) + " fail_timeout=2s"

    def stop(self):
        for part in self.parts[::-1]:
            if part.process and part.process.poll() is None:
                part.send(signal.SIGCONT)
                part.kill()

    def vector_ids(self, site):
        found = set()
        chroma = open_chroma(f"http://{HOST}:{self.chroma.port}")
        for one in chroma.client.list_collections():
            if one.name.startswith(f"{site}.chunks."):
                found |= set(
                    chroma.client.get_collection(one.name, embedding_function=None).get(include=[])["ids"]
                )
        chroma.close()
        return found

    def _postgresql(self):
        user, port = _unprivileged_user(), free_port()
        self.disk = self.folder / "disk"
        self.disk.mkdir()
        self.folder.chmod(0o755)
        if os.geteuid() == 0:
            mount = ["mount", "-t", "tmpfs", "-o", f"size={DISK_MB}m", "tmpfs", str(self.disk)]
            if subprocess.run(mount, check=False, capture_output=True).returncode == 0:
                self.stack.callback(subprocess.run, ["umount", "--lazy", str(self.disk)], check=True)
        data = self.disk / "data"
        if user:
            shutil.chown(self.disk, user)
        options = [
            "--auth=trust",
            "--username=docent",
            "--encoding=UTF8",
            "--locale=C",
            "--no-sync",
            "--wal-segsize=1",
        ]
        subprocess.run(
            [_postgresql_program("initdb"), "-D", str(data), *options],
            user=user, cwd=self.disk, check=True, capture_output=True,
        )  # fmt: skip
        settings = {
            "listen_addresses": HOST, "port": port, "unix_socket_directories": self.disk, "fsync": "off",
            "max_connections": 100, "max_wal_size": "16MB", "min_wal_size": "2MB",
        }  # fmt: skip
        self.database_url = f"postgresql://docent@{HOST}:{port}/postgres"

        def answers():
            with suppress(psycopg.OperationalError):
                psycopg.connect(self.database_url, connect_timeout=5).close()
                return True

        command = [
            _postgresql_program("postgres"),
            "-D",
            data,
            *(f"--{name}={value}" for name, value in settings.items()),
        ]
        return Part("postgresql", list(map(str, command)), answers, self.folder, user=user, cwd=self.disk)

    def _redis(self):
        port = free_port()
        self.redis_url = f"redis://{HOST}:{port}/0"
        program = shutil.which("redis-server")
        if program is None:
            raise MissingProgram("redis-server is not installed: `apt-get install redis-server`")
        command = [program, "--bind", HOST, "--port", str(port), "--save", "", "--dir", str(self.folder)]
        return Part("redis", command, lambda: accepts(port), self.folder)

    def _chroma(self):
        port = free_port()
        command = [
            sys.executable, "-m", "server.indexes.chroma_server", "run", "--path", str(self.folder / "chroma"),
            "--host", HOST, "--port", str(port),
        ]  # fmt: skip
        address = f"http://{HOST}:{port}/api/v2/heartbeat"
        part = Part("chroma", command, lambda: replies(address), self.folder, cwd=ROOT)
        part.port = port
        return part

    def _docent(self, name, command):
        data, port = self.folder / name, free_port()
        data.mkdir(mode=0o700)
        (data / "models").symlink_to(self.model_cache)
        often = "1000000/minute"
        settings = {
            "DATABASE_URL": self.database_url, "REDIS_URL": self.redis_url,
            "CHROMA_URL": f"http://{HOST}:{self.chroma.port}", "SECRET_KEY": "k" * 40,
            "DATA_DIR": data, "PORT": port, "WEB_WORKERS": 1, "WEB_THREADS": 32, "TRUSTED_PROXIES": 1,
            "PUBLIC_URL": f"https://{NAME}", "OPENAI_BASE_URL": self.model.base_url, "OPENAI_API_KEY": "k",
            "CHAT_MODEL": "test", "MODEL_CACHE_HOURS": 0, "TUNE_ANSWER_CACHE": 0, "MODEL_FIRST_TOKEN_S": 60,
            "CRAWL_ALLOW_PRIVATE": 1, "CRAWL_CONCURRENCY": 2, "DISK_FREE_MB": 1,
            "VISITOR_LIMIT": often, "ADDRESS_LIMIT": often, "TOKEN_LIMIT": often,
            "OMP_NUM_THREADS": 1, "MALLOC_ARENA_MAX": 2,
        }  # fmt: skip
        environment = {**os.environ, **{key: str(value) for key, value in settings.items()}}
        address = f"http://{HOST}:{port}/readyz"
        part = Part(
            name, [sys.executable, "-m", "server", command],
            (lambda: replies(address)) if command == "web" else lambda: True,
            self.folder, environment=environment, cwd=ROOT,
        )  # fmt: skip
        part.port, part.data = port, data
        return part


def accepts(port):
    with suppress(OSError), socket.create_connection((HOST, port), timeout=5) as connection:
        connection.sendall(b"PING\r\n")
        return connection.recv(16).startswith(b"+PONG")
    return False


def replies(address):
    with suppress(OSError), urllib.request.urlopen(address, timeout=5) as answer:
        return answer.status == 200
    return False


@contextmanager
def running_cluster(model_cache, certificate, **size):
    """The installation, with its website crawled, ready for visitors."""
    with ExitStack() as stack:
        # Not below pytest's own folder, which other users, such as that of PostgreSQL, may not enter.
        folder = Path(stack.enter_context(TemporaryDirectory(prefix="docent-test-")))
        try:
            cluster = Cluster(folder, model_cache, stack, **size)
        except MissingProgram as error:
            missing(error)
        try:
            cluster.start(certificate)
            yield cluster
        finally:
            cluster.stop()
