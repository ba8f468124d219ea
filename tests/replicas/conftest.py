import tempfile
from pathlib import Path

import pytest

from tests.deploy.conftest import certificate  # noqa: F401
from tests.replicas.cluster import cluster_in
from tests.server_fixtures import missing
from tests.servers import MissingProgram


@pytest.fixture(scope="session")
def cluster(model_cache, certificate):  # noqa: F811
    """Two web servers behind nginx, two workers, PostgreSQL, Redis, Chroma; every test leaves it whole."""
    # Not below pytest's own folder, which other users, such as that of PostgreSQL, may not enter.
    try:
        with (
            tempfile.TemporaryDirectory(prefix="docent-test-") as folder,
            cluster_in(Path(folder), model_cache, certificate) as made,
        ):
            yield made
    except MissingProgram as error:
        missing(error)
