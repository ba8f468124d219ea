import pytest

from tests.deploy.conftest import certificate  # noqa: F401
from tests.replicas.cluster import running_cluster


@pytest.fixture(scope="session")
def cluster(model_cache, certificate):  # noqa: F811
    """Two web servers behind nginx, two workers, PostgreSQL, Redis, Chroma; every test leaves it whole."""
    with running_cluster(model_cache, certificate) as made:
        yield made
