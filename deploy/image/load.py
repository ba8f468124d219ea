"""Imports every module of Docent, so that the image holds the bytecode of all that is ever loaded.

An image's files cannot be written later, and without bytecode each start compiles for seconds.
"""

import pkgutil
from importlib import import_module

import onnx  # noqa: F401  loaded inside functions only, like the others here
import uvicorn  # noqa: F401

ELSEWHERE = ("__main__", "storage.migrations.env", "crawler.fetching.browser")
"""Programs, what runs inside Alembic only, and what needs Playwright, which the image does not have."""

for package in ("server", "crawler", "admin"):
    for module in pkgutil.walk_packages(import_module(package).__path__, f"{package}."):
        if not module.name.endswith(ELSEWHERE):
            import_module(module.name)
