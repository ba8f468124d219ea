"""Installs the programs that some tests drive (a browser, database servers, proxies), where it may.

On Debian and Ubuntu as root it installs what is missing; elsewhere it says what is missing and how to
get it, and the tests that need it say so too.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

PROGRAMS = {
    # The same browser without windows; where it is missing the tests use chromium, and take longer.
    "chromium-headless-shell": ("chromium-headless-shell",),
    "chromium": ("chromium", "chromium-browser", "google-chrome"),
    "postgresql": ("initdb",),
    "redis-server": ("redis-server",),
    "nodejs": ("node",),
    "npm": ("npm",),
    "nginx": ("nginx",),
    "caddy": ("caddy",),
    "systemd": ("systemd-analyze",),
    "prometheus": ("promtool",),
}
"""Debian package -> names of a program that it brings."""

MANUALS = {
    "python3-doc": "/usr/share/doc/python3-doc/html/index.html",
    "postgresql-doc-15": "/usr/share/doc/postgresql-doc-15/html/index.html",
    "sqlite3-doc": "/usr/share/doc/sqlite3/index.html",
    "apache2-doc": "/usr/share/doc/apache2-doc/manual/index.html",
    "debian-handbook": "/usr/share/doc/debian-handbook/html/en-US/index.html",
    "debian-reference-en": "/usr/share/debian-reference/debian-reference.en.pdf",
    "debian-reference-de": "/usr/share/debian-reference/ch02.de.html",
    "debian-reference-ja": "/usr/share/debian-reference/ch08.ja.html",
    "debian-reference-pt": "/usr/share/debian-reference/ch05.pt.html",
    "debian-reference-zh-cn": "/usr/share/debian-reference/ch10.zh-cn.html",
    "libtasn1-doc": "/usr/share/doc/libtasn1-doc/libtasn1.pdf",
}
"""Debian package -> a page of the real site or book that it brings, for the tests of the crawler."""


IMAGE = {
    "docker.io": ("dockerd",),
    "iptables": ("iptables",),
    "docker-compose": ("docker-compose",),
    "debootstrap": ("debootstrap",),
    "golang-go": ("go", "helm"),
}
"""The same for `make test-image`."""

SPRIG = {
    "golang-github-masterminds-sprig-dev": "/usr/share/gocode/src/github.com/Masterminds/sprig",
    "golang-k8s-sigs-yaml-dev": "/usr/share/gocode/src/sigs.k8s.io/yaml",
}
"""Debian package -> folder of a library that it brings, to render the chart without Helm."""


def is_there(names: tuple[str, ...]) -> bool:
    """Whether one of the programs is on the PATH, or where Debian keeps PostgreSQL's."""
    return any(
        shutil.which(name) or list(Path("/usr/lib/postgresql").glob(f"*/bin/{name}")) for name in names
    )


def main() -> int:
    """Always 0: what cannot be installed is named by the tests that miss it."""
    programs, files = (IMAGE, SPRIG) if sys.argv[1:] == ["image"] else (PROGRAMS, MANUALS)
    missing = [package for package, names in programs.items() if not is_there(names)]
    missing += [package for package, file in files.items() if not Path(file).exists()]
    if not missing:
        return 0
    may_install = hasattr(os, "geteuid") and os.geteuid() == 0 and shutil.which("apt-get")
    if not may_install:
        print(f"Not installed: {', '.join(missing)}. Tests that need them are skipped or fail, and say so.")
        print(f"On Debian or Ubuntu: sudo apt-get install {' '.join(missing)}")
        return 0
    print(f"Installing for the tests: {', '.join(missing)} ...", flush=True)
    quiet = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    # Each by itself: a release of the system that lacks one of them still gets the others.
    for command in (
        ["update", "-qq"],
        *(["install", "-qq", "-y", "--no-install-recommends", name] for name in missing),
    ):
        done = subprocess.run(["apt-get", *command], env=quiet, capture_output=True, text=True, check=False)
        if done.returncode:
            print(f"apt-get {command[0]} failed: {done.stderr.strip().splitlines()[-1:]}", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
