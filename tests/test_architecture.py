"""The house rules that a machine can check: import directions, types, vendor confinement. Each lists all offenders."""

import ast
import sys
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parent.parent
SOURCES = sorted(
    path for folder in ("server", "crawler", "admin") for path in (ROOT / folder).rglob("*.py")
    if "migrations/versions" not in path.as_posix()
)  # fmt: skip

# Who may import whom: each layer sees only those named behind it, and itself.
LAYERS = {
    "crawler": set(),
    "server.languages": set(),
    "server.domain": set(),
    "server.settings": {"server.domain"},
    "server.version": set(),
    "server.logs": {"server.settings"},
    "server.models": {"server.domain"},
    "server.storage": {"server.domain", "crawler.journal"},
    "server.indexes": {"server.domain", "server.storage"},
    "server.indexing": {"server.domain", "server.storage", "server.indexes", "crawler.page"},
    "server.retrieval": {"server.domain", "server.indexes"},
    "server.guards": {"server.domain"},
    "server.answering": {"server.domain", "server.indexes", "server.retrieval", "server.storage", "server.guards"},
    "server.gaps": {"server.domain", "server.indexes", "server.retrieval", "server.answering", "server.storage"},
    "server.quality": {"server.domain", "server.storage"},
    "server.playground": {"server.domain", "server.storage"},
    "server.backup": {"server.domain", "server.storage"},
    "server.evaluation": {"server.domain", "server.indexes", "server.retrieval", "server.answering", "crawler.page"},
    "server.jobs": {"server.domain", "server.settings", "server.storage", "server.playground", "server.quality", "server.indexes", "server.indexing", "crawler"},
    "server.contact": {"server.domain", "server.settings", "server.storage", "crawler"},
    "server.errors": {"crawler", "server.domain", "server.evaluation", "server.indexes", "server.storage"},
    "server.storage.data_folder": {"server.errors"},
    "server.jobs.site_setup": {"server.domain", "server.errors", "server.settings"},
    "server.runtime.container": {
        "server.domain", "server.settings", "server.storage.data_folder", "server.errors", "server.models", "server.storage", "server.indexes",
        "server.indexing", "server.retrieval", "server.guards", "server.answering", "server.contact", "server.evaluation", "server.gaps", "server.jobs", "crawler",
    },
    "server.api": {
        "server.domain", "server.settings", "server.runtime.container", "server.storage", "server.guards", "server.answering", "server.errors",
        "server.indexes", "server.logs",
    },
    "admin": {
        "server.domain", "server.settings", "server.runtime.container", "server.storage", "server.guards", "server.errors", "server.retrieval",
        "server.indexes", "server.answering", "server.api", "server.evaluation", "server.gaps", "server.contact", "server.version", "crawler",
    },
    "server.app": {"server", "admin"},
    "server.serving": {"server"},
    "server.commands": {"server", "crawler"},
    "server.__main__": {"server"},
}  # fmt: skip

CONFINED = {
    "requests": ["crawler/fetcher.py"],
    "playwright": ["crawler/browsers.py"],
    "protego": ["crawler/robots_rules.py"],
    "bs4": ["crawler/extractors/charset.py"],
    "lxml": ["crawler"],
    "pypdf": ["crawler/extractors/pdf"],
    "w3lib": ["crawler/extractors/charset.py"],
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
    "honcho": ["server/commands/run.py"],
    "graspologic_native": ["server/retrieval/published/graphrag/reports.py"],
    "gunicorn": ["server/serving.py"],
    "minify": ["server/api/assets/widget_files.py"],
    "flask": ["server/api", "server/app.py", "server/serving.py", "admin"],
    "argon2": ["admin"],
    "flask_wtf": ["admin", "server/app.py"],
    "Stemmer": ["server/languages"],
    "rapidfuzz": ["server/indexes/vocabulary.py"],
    "scipy": ["server/retrieval"],
    "sklearn": ["server/retrieval"],
    "threadpoolctl": ["server/retrieval/published/raptor/build.py"],
    "umap": ["server/retrieval/published/raptor"],
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


def test_imports_point_inward():
    offenders = []
    for path in SOURCES:
        module = name_of(path)
        if module == "server":
            continue
        layer = layer_of(module)
        if not layer:
            offenders.append(f"{module} is in no layer: name it in LAYERS")
            continue
        offenders += [
            f"{module} must not import {imported}"
            for imported in imports_of(path)
            if within(imported, ("server", "crawler", "admin"))
            and not within(imported, LAYERS[layer] | {layer})
        ]
    assert offenders == []


def test_a_vendor_library_is_imported_where_it_is_adapted():
    offenders = []
    for path in SOURCES:
        place = path.relative_to(ROOT).as_posix()
        for imported in imports_of(path):
            homes = CONFINED.get(imported.split(".")[0])
            if homes and not any(place == home or place.startswith(home + "/") for home in homes):
                offenders.append(f"{place} imports {imported}, which belongs in {' or '.join(homes)}")
    assert offenders == []


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


def test_public_functions_are_typed():
    offenders = []
    for path in SOURCES:
        for node in ast.walk(tree_of(path)):
            if isinstance(node, ast.FunctionDef) and not node.name.startswith("_"):
                named = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
                untyped = [
                    arg.arg for arg in named if arg.annotation is None and arg.arg not in ("self", "cls")
                ]
                if untyped or node.returns is None:
                    missing = untyped or "the return value"
                    offenders.append(f"{name_of(path)}.{node.name}: no type for {missing}")
    assert offenders == []


def test_only_settings_reads_the_environment():
    offenders = [
        f"{name_of(path)}, line {node.lineno}"
        for path in SOURCES
        if name_of(path) != "server.settings"
        for node in ast.walk(tree_of(path))
        if isinstance(node, ast.Attribute) and node.attr in ("environ", "getenv")
    ]
    assert offenders == []


def test_the_domain_needs_only_the_standard_library():
    offenders = [
        f"{name_of(path)} imports {imported}"
        for path in SOURCES
        if "domain" in path.parts
        for imported in imports_of(path)
        if imported.split(".")[0] not in sys.stdlib_module_names and not within(imported, {"server.domain"})
    ]
    assert offenders == []


def test_there_is_no_room_for_leftovers():
    leftovers = [path for path in SOURCES if path.stem in ("utils", "helpers", "common", "misc")]
    assert leftovers == [], "name the concept"


def test_the_top_level_is_as_designed():
    allowed = {
        "README.md", "requirements.txt", "env.example", "server", "crawler", "widget", "admin", "tests", "pyproject.toml",
        "Makefile", "CHANGELOG.md", "CONTRIBUTING.md", "LICENSE", "Dockerfile", "compose.yaml", "requirements-dev.txt",
        "requirements-models.txt", "docs", "benchmarks", "data", "build",
    }  # fmt: skip
    found = {path.name for path in ROOT.iterdir() if not path.name.startswith(".")}
    assert found <= allowed, found - allowed
