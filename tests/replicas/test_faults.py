"""Each fault that a cluster meets, done to a real one while visitors ask and a site is crawled.

`make test-replicas` prints a line for each: how many questions were in flight, failed, and were resumed.
"""

import os
import shutil
import signal
import time
from contextlib import suppress

import pytest
from sqlalchemy import inspect

from server.storage import upgrade
from server.storage.leases import LEASE_S
from tests.replicas.cluster import ROOT, Crawl
from tests.replicas.visitors import visitors

NOTICED_S = 10.0
"""Seconds that an operator waits before the next replica (docs/operations.md): nginx sends a single question to one
that was away, and others only when it is answered."""


def test_a_web_replica_is_killed(cluster):
    """The other replica writes the answers to their end."""
    with visitors(cluster) as load:
        load.wait_for_stream_at(cluster.web[0])
        load.fault()
        cluster.web[0].kill()
        load.wait_for_answers(8)
        cluster.web[0].restart()
    assert load.check("kill -9 of a web replica"), "nothing was resumed"


def test_a_worker_is_killed_while_it_crawls(cluster):
    with visitors(cluster) as load:
        crawl = Crawl(cluster)
        worker, _ = crawl.worker()
        load.fault()
        worker.kill()
        seen = crawl.check()
        worker.restart()
    load.check("kill -9 of a worker", seen=seen)


def test_chroma_is_killed(cluster):
    """Questions are searched by words, and the crawl waits for it."""
    with visitors(cluster) as load:
        crawl = Crawl(cluster)
        load.fault()
        cluster.chroma.kill()
        crawl.release()
        load.wait_for_answers(8)
        cluster.chroma.restart()
        seen = crawl.check()
    load.check("kill -9 of Chroma", seen=seen)


@pytest.mark.parametrize("how", ["killed", "restarted"])
def test_redis_is_killed_or_restarted_and_forgets_everything(cluster, how):
    with visitors(cluster) as load:
        crawl = Crawl(cluster)
        load.fault()
        cluster.redis.kill() if how == "killed" else cluster.redis.stop()
        crawl.release()
        load.wait_for_answers(4)
        cluster.redis.restart()
        seen = crawl.check()
        again = Crawl(cluster)
        again.check()
    load.check(f"Redis is {how}", seen=seen)


@pytest.mark.parametrize("how", ["killed", "restarted"])
def test_postgresql_is_killed_or_restarted(cluster, how):
    """Whoever needs it waits until it answers again."""
    with visitors(cluster) as load:
        crawl = Crawl(cluster)
        load.fault()
        if how == "killed":
            cluster.postgresql.kill()
        else:
            cluster.postgresql.stop(signal.SIGINT)
        cluster.postgresql.restart()
        seen = crawl.check()
    load.check(f"PostgreSQL is {how}", seen=seen)


def test_the_disk_of_postgresql_is_full(cluster):
    """Visitors are told so, and nothing that was acknowledged is lost."""
    if not os.path.ismount(cluster.disk):
        pytest.skip("a small disk can be mounted by root only")
    with visitors(cluster) as load:
        load.fault()
        fill(cluster.disk / "filler")
        began = time.monotonic()
        while not any(one.error for one in load.asked) and time.monotonic() - began < 60:
            time.sleep(0.1)
        (cluster.disk / "filler").unlink()
        if cluster.postgresql.process.poll() is not None:
            cluster.postgresql.restart()
    load.check("full disk of PostgreSQL", late_errors=99)


def fill(file):
    with file.open("wb", buffering=0) as written, suppress(OSError):
        while True:
            written.write(b"x" * 4096)


def test_a_web_replica_is_paused(cluster):
    """Whoever it serves waits."""
    with visitors(cluster) as load:
        load.fault()
        cluster.web[0].send(signal.SIGSTOP)
        load.wait_for_answers(3)
        time.sleep(3)
        cluster.web[0].send(signal.SIGCONT)
    load.check("pause of a web replica")


def test_redis_hangs(cluster):
    with visitors(cluster) as load:
        load.fault()
        cluster.redis.send(signal.SIGSTOP)
        load.wait_for_answers(6)
        cluster.redis.send(signal.SIGCONT)
    load.check("Redis hangs")


def test_a_worker_is_paused_for_longer_than_its_lease(cluster):
    """Another one goes on with its crawl, and it notices."""
    with visitors(cluster) as load:
        crawl = Crawl(cluster)
        worker, other = crawl.worker()
        load.fault()
        worker.send(signal.SIGSTOP)
        time.sleep(LEASE_S)
        seen = crawl.check()
        ended = crawl.run
        worker.send(signal.SIGCONT)
        load.wait_for_answers(4)
        assert crawl.run == ended
    load.check("pause of a worker", seen=seen)
    assert f"crawl {crawl.id} of slow is live" in other.says()
    assert f"crawl {crawl.id} of slow is live" not in worker.says()


MIGRATION = '''"""What the next version adds."""

import sqlalchemy as sa
from alembic import op

revision, down_revision = "0999", "{newest}"


def upgrade() -> None:
    op.add_column("messages", sa.Column("mood", sa.Text(), server_default="calm", nullable=False))
    op.create_table("moods", sa.Column("id", sa.Integer(), primary_key=True))
'''


def test_every_replica_is_rolled_to_a_version_with_other_tables(cluster):
    new = cluster.folder / "new version"
    parts = shutil.ignore_patterns(".*", "__pycache__", "tests", "benchmarks")
    shutil.copytree(ROOT, new, ignore=parts)
    versions = new / "server" / "storage" / "migrations" / "versions"
    (versions / "0999_moods.py").write_text(MIGRATION.format(newest=upgrade.newest()))
    with visitors(cluster) as load:
        load.fault()
        for part in cluster.web:
            part.stop()
            part.cwd = new
            part.restart()
            load.wait_for_answers(2)
            time.sleep(NOTICED_S)
        crawl = Crawl(cluster)
        for part in crawl.worker():
            part.stop()
            part.cwd = new
            part.restart()
            crawl.release()
        seen = crawl.check(cuts=2)
    load.check("a new version with other tables", seen=seen)
    with cluster.database.connect() as connection:
        assert upgrade.revision(connection) == "0999"
        assert "mood" in {column["name"] for column in inspect(connection).get_columns("messages")}
    assert list((cluster.web[0].data / "backups").glob("before-upgrade-*.zip"))
