"""The house rules that a machine can check: import directions, sizes, types, vendor confinement."""

import ast
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
SOURCES = sorted(
    path for folder in ("server", "crawler", "admin") for path in (ROOT / folder).rglob("*.py")
    if "migrations/versions" not in path.as_posix()
)  # fmt: skip

# Who may import whom: each layer sees only those named behind it, and itself.
LAYERS = {
    "crawler": set(),
    "server.domain": set(),
    "server.crawl_settings": set(),
    "server.contact_settings": set(),
    "server.privacy_settings": set(),
    "server.source_settings": set(),
    "server.tuning_settings": {"server.domain"},
    "server.quality_settings": set(),
    "server.playground_settings": set(),
    "server.gap_settings": set(),
    "server.settings": {"server.source_settings", "server.privacy_settings", "server.contact_settings", "server.crawl_settings", "server.gap_settings", "server.playground_settings", "server.quality_settings", "server.tuning_settings"},
    "server.version": set(),
    "server.settings_text": {"server.settings"},
    "server.changeable_settings": {"server.settings"},
    "server.logs": {"server.settings"},
    "server.models": {"server.domain"},
    "server.storage": {"server.domain", "crawler.journal"},
    "server.indexes": {"server.domain", "server.storage"},
    "server.indexing": {"server.domain", "server.storage", "server.indexes", "crawler.page"},
    "server.retrieval": {"server.domain", "server.indexes"},
    "server.guards": {"server.domain"},
    "server.answering": {"server.domain", "server.indexes", "server.retrieval", "server.storage", "server.guards"},
    "server.gaps": {"server.domain", "server.indexes", "server.retrieval", "server.answering", "server.storage"},
    "server.evaluation": {"server.domain", "server.indexes", "server.retrieval", "server.answering", "crawler.page"},
    "server.jobs": {"server.domain", "server.settings", "server.storage", "server.indexes", "server.indexing", "crawler"},
    "server.contact": {"server.domain", "server.settings", "server.storage", "crawler"},
    "server.errors": {"crawler", "server.domain", "server.evaluation", "server.indexes", "server.storage"},
    "server.storage.data_folder": {"server.errors"},
    "server.jobs.site_setup": {"server.domain", "server.errors", "server.settings"},
    "server.runtime.container": {
        "server.domain", "server.settings", "server.storage.data_folder", "server.errors", "server.models", "server.storage", "server.indexes",
        "server.indexing", "server.retrieval", "server.guards", "server.answering", "server.contact", "server.evaluation", "server.gaps", "server.jobs", "crawler",
        "server.changeable_settings",
    },
    "server.api": {
        "server.domain", "server.settings", "server.runtime.container", "server.storage", "server.guards", "server.answering", "server.errors",
        "server.indexes", "server.logs",
    },
    "admin": {
        "server.domain", "server.settings", "server.runtime.container", "server.storage", "server.guards", "server.errors", "server.retrieval",
        "server.indexes", "server.answering", "server.api", "server.evaluation", "server.gaps", "server.contact", "server.changeable_settings", "server.version", "crawler",
    },
    "server.app": {"server", "admin"},
    "server.serving": {"server"},
    "server.commands": {"server", "crawler"},
    "server.__main__": {"server"},
}  # fmt: skip

CONFINED = {
    "requests": ["crawler/fetching/fetcher.py"],
    "playwright": ["crawler/fetching/browser.py"],
    "protego": ["crawler/fetching/robots.py"],
    "bs4": ["crawler"],
    "lxml": ["crawler"],
    "pypdf": ["crawler/extractors"],
    "markdown_it": [
        "crawler/extractors/markdown.py",
        "server/answering/markup.py",
        "server/api/docs/docs.py",
    ],
    "url_normalize": ["crawler/discovery/urls.py"],
    "sqlalchemy": ["server/storage", "server/indexes"],
    "alembic": ["server/storage"],
    "diskcache": ["server/storage", "server/guards"],
    "redis": ["server/storage"],
    "limits": ["server/guards/limits.py"],
    "chromadb": ["server/indexes/vectors.py"],
    "langchain_openai": ["server/models/openai.py"],
    "langgraph": ["server/answering/state_graph.py"],
    "onnxruntime": ["server/models"],
    "onnx": ["server/models"],
    "tokenizers": ["server/models"],
    "safetensors": ["server/models"],
    "huey": ["server/jobs/queue.py"],
    "cryptography": ["server/storage/sealed.py"],
    "pyotp": ["admin/people/totp.py"],
    "segno": ["admin/people/totp.py"],
    "email_validator": ["server/guards/mail_addresses.py"],
    "smtplib": ["server/contact/mail.py"],
    "honcho": ["server/commands/supervisor.py"],
    "graspologic_native": ["server/retrieval/graphrag/communities.py"],
    "gunicorn": ["server/serving.py"],
    "minify": ["server/api/assets/widget_files.py"],
    "flask": ["server/api", "server/app.py", "server/serving.py", "admin"],
    "argon2": ["admin"],
    "flask_wtf": ["admin", "server/app.py"],
    "Stemmer": ["server/indexes"],
    "rapidfuzz": ["server/indexes/vocabulary.py"],
    "scipy": ["server/retrieval"],
    "sklearn": ["server/retrieval"],
    "threadpoolctl": ["server/retrieval/raptor/build.py"],
    "umap": ["server/retrieval/raptor"],
    "filelock": ["server/storage/data_folder.py", "server/storage", "server/models", "server/services"],
}


def name_of(path):
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


@cache
def tree_of(path):
    return ast.parse(path.read_text(encoding="utf-8"), str(path))


def imports_of(path):
    for node in ast.walk(tree_of(path)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            assert node.level == 0, f"{path}: relative import"
            yield node.module


def layer_of(module):
    fitting = [layer for layer in LAYERS if module == layer or module.startswith(layer + ".")]
    return max(fitting, key=len, default="")


def within(module, allowed):
    return any(module == name or module.startswith(name + ".") for name in allowed)


@pytest.mark.parametrize("path", SOURCES, ids=name_of)
def test_imports_point_inward(path):
    module = name_of(path)
    if module in ("server", "server.__init__"):
        return
    layer = layer_of(module)
    assert layer, f"{module} stands in no layer: name it in LAYERS"
    for imported in imports_of(path):
        if within(imported, ("server", "crawler", "admin")):
            assert within(imported, LAYERS[layer] | {layer}), f"{module} must not import {imported}"


@pytest.mark.parametrize("path", SOURCES, ids=name_of)
def test_a_vendor_library_is_imported_where_it_is_adapted(path):
    place = path.relative_to(ROOT).as_posix()
    for imported in imports_of(path):
        homes = CONFINED.get(imported.split(".")[0])
        if homes:
            assert any(place == home or place.startswith(home + "/") for home in homes), (
                f"{place} imports {imported}, which belongs in {' or '.join(homes)}"
            )


def test_there_is_no_import_cycle():
    modules = {name_of(path): path for path in SOURCES}
    graph = {
        module: {name for name in top_level_imports(path) if name in modules and name != module}
        for module, path in modules.items()
    }
    done, under_way = set(), []

    def visit(module):
        assert module not in under_way, f"import cycle: {' -> '.join([*under_way, module])}"
        if module not in done:
            under_way.append(module)
            for imported in sorted(graph[module]):
                visit(imported)
            done.add(under_way.pop())

    for module in sorted(graph):
        visit(module)


def top_level_imports(path):
    for node in tree_of(path).body:
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


@pytest.mark.parametrize("path", SOURCES, ids=name_of)
def test_files_and_functions_stay_small(path):
    text = path.read_text(encoding="utf-8")
    assert len(text.splitlines()) <= 600, "split this file"
    for node in ast.walk(tree_of(path)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            length = node.end_lineno - node.lineno + 1
            assert length <= 50, f"{node.name} has {length} lines"


@pytest.mark.parametrize("path", SOURCES, ids=name_of)
def test_public_functions_are_typed(path):
    for node in ast.walk(tree_of(path)):
        if isinstance(node, ast.FunctionDef) and not node.name.startswith("_"):
            named = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
            untyped = [arg.arg for arg in named if arg.annotation is None and arg.arg not in ("self", "cls")]
            assert not untyped, f"{node.name}: {untyped} have no type"
            assert node.returns is not None, f"{node.name} has no return type"


@pytest.mark.parametrize("path", SOURCES, ids=name_of)
def test_only_settings_reads_the_environment(path):
    if name_of(path) == "server.settings":
        return
    for node in ast.walk(tree_of(path)):
        reads = isinstance(node, ast.Attribute) and node.attr in ("environ", "getenv")
        assert not reads, f"{path.name} line {node.lineno} reads the environment"


@pytest.mark.parametrize("path", [path for path in SOURCES if "domain" in path.parts], ids=name_of)
def test_the_domain_needs_only_the_standard_library(path):
    import sys

    for imported in imports_of(path):
        assert imported.split(".")[0] in sys.stdlib_module_names or within(imported, {"server.domain"})


def test_there_is_no_room_for_leftovers():
    for path in SOURCES:
        assert path.stem not in ("utils", "helpers", "common", "misc"), f"{path}: name the concept"


def test_the_top_level_is_as_designed():
    allowed = {
        "README.md", "requirements.txt", "env.example", "server", "crawler", "widget", "admin", "tests", "pyproject.toml",
        "Makefile", "CHANGELOG.md", "CONTRIBUTING.md", "LICENSE", "Dockerfile", "compose.yaml", "requirements-dev.txt",
        "requirements-models.txt", "docs", "benchmarks", "data", "build",
    }  # fmt: skip
    found = {path.name for path in ROOT.iterdir() if not path.name.startswith(".")}
    assert found <= allowed, found - allowed
