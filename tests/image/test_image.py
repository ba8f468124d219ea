"""The image: what is in it, and that it serves as a user without rights on a read-only root."""

import json
import os
import re
import subprocess
import sys
import time

import pytest

from server.settings import SETTINGS
from tests.image.conftest import QUESTION, Client, assert_cited
from tests.image.engine import BASE, ROOT
from tests.servers import free_port

MOST = 700_000_000
COMPILERS = [
    "gcc",
    "cc",
    "g++",
    "clang",
    "tcc",
    "rustc",
    "cargo",
    "go",
    "make",
    "ld",
    "as",
    "strip",
    "pip",
    "pip3",
]
LOCKED_DOWN = ["--read-only", "--tmpfs=/tmp", "--cap-drop=ALL", "--security-opt=no-new-privileges"]
NETWORK, SITE_AT = "docent-test-network", "http://teapots:8080/"


def test_it_has_less_than_700_megabytes(engine, image):
    size = int(engine.inspect(image, "{{.Size}}"))
    print(
        f"image: {size / 1e6:.0f} MB, of which the base {int(engine.inspect(BASE, '{{.Size}}')) / 1e6:.0f} MB"
    )
    assert size < MOST


def test_nothing_in_it_can_compile_and_only_root_could_change_it(engine, image):
    look = f"import shutil; print([name for name in {COMPILERS} if shutil.which(name)])"
    assert engine("run", "--rm", "--entrypoint=python", image, "-c", look) == "[]"
    found = engine("run", "--rm", "--entrypoint=find", image, "/opt", "-perm", "/022", "-not", "-type", "l")
    assert found == ""
    left = engine(
        "run", "--rm", "--entrypoint=find", image, "/run/secrets", "/etc/pip.conf", check=False
    ).stdout
    assert left.split() in ([], ["/run/secrets"]), "what the build was given stays out of the image"


def test_its_user_is_not_root_and_its_base_is_pinned(engine, image):
    assert engine.inspect(image, "{{.Config.User}}") == "10001:10001"
    assert engine("run", "--rm", "--entrypoint=id", image, "-u") == "10001"
    assert re.search(r":\d+\.\d+\.\d+|@sha256:", BASE)


def test_it_holds_the_prepared_model_and_the_pinned_packages(engine, image, tmp_path):
    printed = engine("run", "--rm", "--network=none", *LOCKED_DOWN, image, "prepare")
    assert printed == "The embedded model is ready."
    said = engine("run", "--rm", "--network=none", *LOCKED_DOWN, image, "doctor", check=False).stdout
    count = sum("==" in line for line in (ROOT / "requirements.txt").read_text().splitlines())
    assert f"{count} pinned packages are installed" in said, said
    assert "Everything is in order." in said, said
    assert without_machine(said) == without_machine(doctor_of_this_checkout(tmp_path))


def without_machine(said):
    """The lines of `doctor` that say the same on every machine."""
    return [
        line
        for line in said.splitlines()
        if line.split()[1] not in ("python", "folder", "settings", "port", "browser")
    ]


def doctor_of_this_checkout(folder):
    environment = {name: value for name, value in os.environ.items() if name.lower() not in SETTINGS}
    environment |= {"DATA_DIR": str(folder / "data"), "PORT": str(free_port())}
    command = [sys.executable, "-m", "server", "doctor"]
    return subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    ).stdout


@pytest.fixture
def network(engine, website):
    """A network with the tiny site in it."""
    engine("network", "create", NETWORK)
    server = ["python3", "-m", "http.server", "8080", "--directory", "/site"]
    engine(
        "run",
        "-d",
        "--rm",
        "--name=docent-test-site",
        "--network",
        NETWORK,
        "--network-alias=teapots",
        f"-v={website}:/site:ro",
        BASE,
        *server,
    )
    yield NETWORK
    engine("rm", "-f", "docent-test-site")
    engine("network", "rm", NETWORK)


def test_another_user_on_a_read_only_root_answers_and_survives_a_kill(engine, image, network, tmp_path):
    data, port, name = tmp_path / "data", free_port(), "docent-test-alone"
    data.mkdir(mode=0o700)
    engine.run(["chown", "12345:12345", data])
    settings = {"SITE": SITE_AT, "PRIVATE_HOSTS": "teapots:8080"}
    given = [f"--env={key}={value}" for key, value in settings.items()]
    engine(
        "run", "-d", f"--name={name}", "--user=12345:12345", *LOCKED_DOWN, "--network", network, *given,
        f"-p=127.0.0.1:{port}:8000", f"-v={data}:/data", image,
    )  # fmt: skip
    try:
        engine.wait(name)
        site = site_of(engine, name)
        visitor = Client(f"http://127.0.0.1:{port}")
        assert_cited(visitor.ask_until_answered(site, QUESTION), f"{SITE_AT}delivery.html")
        before = messages(engine, name)
        assert before >= 1
        assert engine("exec", name, "id", "-u") == "12345"
        with pytest.raises(AssertionError, match="Read-only file system"):
            engine("exec", name, "touch", "/opt/docent/server/new.py")

        engine("kill", name)
        engine("rm", "-f", "docent-test-site")  # what is answered now was kept
        began = time.monotonic()
        engine("start", name)
        until_ready(visitor)
        print(f"ready {time.monotonic() - began:.1f} s after the start of the killed container")
        assert messages(engine, name) == before
        assert_cited(visitor.ask(site, QUESTION), f"{SITE_AT}delivery.html")
        engine.wait(name)

        began = time.monotonic()
        engine("stop", "-t", "30", name)
        print(f"stopped after {time.monotonic() - began:.1f} s")
        assert engine.inspect(name, "{{.State.ExitCode}}") == "0", engine.logs(name)
    finally:
        engine("rm", "-f", name)


def site_of(engine, name, seconds=300):
    """The id of the first site."""
    end = time.monotonic() + seconds
    while not (sites := json.loads(engine("exec", name, "python", "-m", "server", "sites", "--json"))):
        assert time.monotonic() < end, engine.logs(name)
        time.sleep(1)
    return sites[0]["id"]


def until_ready(visitor, seconds=300):
    end = time.monotonic() + seconds
    while True:
        try:
            visitor.open("/readyz").close()
            return
        except OSError:
            assert time.monotonic() < end
        time.sleep(0.1)


def messages(engine, name):
    count = "SELECT count(*) FROM messages"
    return int(
        engine.python(
            name,
            f"import sqlite3; print(sqlite3.connect('/data/docent.sqlite3').execute('{count}').fetchone()[0])",
        )
    )
