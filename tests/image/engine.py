"""A container engine for tests: the one that runs, or a dockerd of our own where we are root.

No image is fetched. The base is made of Debian's packages, and stands under the name that the Dockerfile gives it.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).parents[2]
HERE = Path(__file__).parent
BASE = re.search(r"^ARG BASE=(\S+)", (ROOT / "Dockerfile").read_text(encoding="utf-8"), re.M)[1]
IMAGE, SERVICES = "docent-test", "docent-test-services"
STATE = Path("/var/lib/docent-test-engine")
"""Images of a dockerd that the tests started stay here, so that the next run needs no new base."""
UNREAD = (
    "usr/share/doc",
    "usr/share/man",
    "usr/share/locale",
    "var/lib/apt/lists",
    "var/cache/apt",
    "var/log",
)
"""Folders of a Debian system that slim images do not have."""


class NoEngine(Exception):
    """No container engine can be had; the message says what is missing."""


class Engine:
    """Commands of Docker. Each raises AssertionError with what the command wrote when it fails."""

    def __init__(self, docker, host):
        self.docker = docker
        self.environment = {**os.environ, "DOCKER_BUILDKIT": "1", "DOCKER_HOST": host}

    def __call__(self, *arguments, check=True, timeout=600, **more):
        return self.run([self.docker, *arguments], check=check, timeout=timeout, **more)

    def run(self, command, *, check=True, timeout=600, environment=None, text=None):
        done = subprocess.run(
            list(map(str, command)), env={**self.environment, **(environment or {})}, cwd=ROOT, input=text,
            capture_output=True, text=True, check=False, timeout=timeout,
        )  # fmt: skip
        assert not check or done.returncode == 0, f"{command}\n{done.stdout[-3000:]}\n{done.stderr[-3000:]}"
        return done.stdout.strip() if check else done

    def has(self, image):
        return self("image", "inspect", image, check=False).returncode == 0

    def inspect(self, name, template):
        return self("inspect", "--format", template, name)

    def python(self, name, code):
        """What a line of Python prints in a running container."""
        return self("exec", name, "python", "-c", code)

    def build(self, folder, tag, *options):
        """Builds with the network, the package sources and the certificates of this machine."""
        with tempfile.TemporaryDirectory() as secrets:
            given = [f"--secret=id=pip,src={write_pip_configuration(Path(secrets))}"]
            if certificates := own_certificates():
                given.append(f"--secret=id=certificates,src={certificates}")
            self(
                "build",
                "--network=host",
                "--build-arg",
                f"BASE={BASE}",
                *given,
                *options,
                "-t",
                tag,
                folder,
                timeout=3000,
            )

    def wait(self, name, state="healthy", seconds=600):
        """Waits for the health of a container."""
        end = time.monotonic() + seconds
        while (now := self.inspect(name, "{{.State.Status}} {{.State.Health.Status}}")) != f"running {state}":
            assert time.monotonic() < end, f"{name} is {now}\n{self.logs(name)}"
            time.sleep(0.5)

    def logs(self, name):
        done = self("logs", "--tail", "60", name, check=False)
        return done.stdout + done.stderr


@contextmanager
def engine():
    """The engine that runs, or one that is started here and stopped at the end. Raises NoEngine."""
    docker = docker_that_builds()
    host = os.environ.get("DOCKER_HOST", "unix:///var/run/docker.sock")
    if is_up(docker, host):
        yield Engine(docker, host)
        return
    daemon = shutil.which("dockerd")
    if os.geteuid() != 0 or daemon is None:
        raise NoEngine(
            "no Docker daemon answers, and one can only be started here as root, with dockerd and iptables"
        )
    STATE.mkdir(parents=True, exist_ok=True)
    log, socket = STATE / "dockerd.log", STATE / "docker.sock"
    command = [
        daemon,
        f"--data-root={STATE}/data",
        f"--exec-root={STATE}/run",
        f"--pidfile={STATE}/pid",
        f"-H=unix://{socket}",
    ]
    with log.open("wb") as output:
        process = subprocess.Popen(command, stdout=output, stderr=output)
    try:
        end = time.monotonic() + 60
        while not is_up(docker, f"unix://{socket}"):
            if process.poll() is not None or time.monotonic() > end:
                raise NoEngine(f"dockerd does not start: {log.read_text(errors='replace')[-600:]}")
            time.sleep(0.5)
        yield Engine(docker, f"unix://{socket}")
    finally:
        process.terminate()
        process.wait(60)


def docker_that_builds():
    """The first docker on the PATH that can build: from version 23 on, one with its plugin buildx."""
    found = [Path(folder) / "docker" for folder in os.environ["PATH"].split(os.pathsep)]
    for docker in filter(Path.exists, found):
        major = re.search(r"version (\d+)", output_of(docker, "--version"))
        if major and (int(major[1]) < 23 or "buildx" in output_of(docker, "buildx", "version")):
            return str(docker)
    raise NoEngine(
        "Docker is not installed, or has no buildx: apt-get install docker.io iptables docker-compose"
    )


def compose_command(engine):
    """The words that call Compose."""
    if engine("compose", "version", check=False).returncode == 0:
        return [engine.docker, "compose"]
    program = shutil.which("docker-compose")
    if program is None:
        raise NoEngine("Docker Compose is not installed: apt-get install docker-compose")
    return [program]


def make_base(engine):
    """Imports a small Debian with Python under the name of the Dockerfile's base, if that cannot be had itself."""
    if engine.has(BASE) or engine("pull", "--quiet", BASE, check=False).returncode == 0:
        return
    debootstrap = shutil.which("debootstrap")
    if os.geteuid() != 0 or debootstrap is None:
        raise NoEngine(
            f"there is no image {BASE}: `docker pull {BASE}`, or as root: apt-get install debootstrap"
        )
    suite, mirror = debian()
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "base"
        included = "--include=python3,python3-venv,ca-certificates"
        engine.run([debootstrap, "--variant=minbase", included, suite, root, mirror], timeout=1800)
        for place in UNREAD:
            shutil.rmtree(root / place, ignore_errors=True)
            (root / place).mkdir(parents=True, exist_ok=True)
        (root / "var/cache/apt/archives/partial").mkdir(parents=True)
        archive = Path(folder) / "base.tar"
        engine.run(["tar", "--numeric-owner", "-C", root, "-cf", archive, "."])
        engine("import", archive, BASE)


def debian():
    """(name of this Debian's release, address of the archive that apt uses)."""
    suite = re.search(r"^VERSION_CODENAME=(\w+)", Path("/etc/os-release").read_text(), re.M)
    for line in output_of(
        "apt-get", "indextargets", "--format", "$(ORIGIN) $(CODENAME) $(SITE)"
    ).splitlines():
        origin, name, *address = line.split()
        if suite and address and (origin, name) == ("Debian", suite[1]):
            return name, address[0]
    raise NoEngine(
        "this system is no Debian whose package archive could be found with `apt-get indextargets`"
    )


def write_pip_configuration(folder):
    """A pip.conf with the indexes that pip uses here, and the certificates where the build has them."""
    listed = output_of(sys.executable, "-m", "pip", "config", "list")
    lines = ["[global]", "timeout = 180"]
    if own_certificates():
        lines.append("cert = /run/secrets/certificates")
    for name, value in re.findall(r"^(?:global|:env:)\.(index-url|extra-index-url)='(.*)'$", listed, re.M):
        if addresses := " ".join(one for one in value.split() if one.startswith("http")):
            lines.append(f"{name} = {addresses}")
    file = folder / "pip.conf"
    file.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return file


def own_certificates():
    """The bundle that pip is configured with; None for pip's own."""
    listed = output_of(sys.executable, "-m", "pip", "config", "list")
    found = re.search(r"^(?:global|:env:)\.cert='(.*)'$", listed, re.M)
    return found[1] if found else None


def is_up(docker, host):
    return bool(output_of(docker, "-H", host, "version", "--format", "{{.Server.Version}}"))


def output_of(*command):
    """What a command prints; empty when it fails."""
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=False)
    return done.stdout.strip() if done.returncode == 0 else ""
