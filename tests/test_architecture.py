"""The house rules that a machine can check: import directions, types, vendor confinement. Each lists all offenders."""

import ast
import subprocess
import sys
from collections import Counter, defaultdict
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parent.parent
SOURCES = sorted(
    path for folder in ("server", "crawler", "admin") for path in (ROOT / folder).rglob("*.py")
    if "migrations/versions" not in path.as_posix()
)  # fmt: skip

CONFINED = {
    "requests": ["crawler/fetching/fetcher.py"],
    "playwright": ["crawler/fetching/browser.py"],
    "protego": ["crawler/fetching/robots.py"],
    "bs4": ["crawler/extractors/text.py"],
    "lxml": ["crawler"],
    "pypdf": ["crawler/extractors/pdf"],
    "w3lib": ["crawler/extractors/text.py"],
    "markdown_it": [
        "crawler/extractors/markdown.py",
        "server/answering/writing/markup.py",
        "server/api/docs/docs.py",
    ],
    "url_normalize": ["crawler/discovery/urls.py"],
    "sqlalchemy": [
        "server/storage",
        "server/indexes",
        "server/backup",
        "server/gaps",
        "server/playground",
        "server/quality",
    ],
    "alembic": ["server/storage"],
    "babel": ["admin/texts.py", "admin/formats.py"],
    "diskcache": ["server/storage", "server/guards"],
    "redis": ["server/storage/shared_cache.py"],
    "limits": ["server/guards/limits.py"],
    "chromadb": ["server/indexes/vectors.py"],
    "langchain_openai": ["server/models/openai.py"],
    "langgraph": ["server/answering/flows/state_graph.py"],
    "onnxruntime": ["server/models/embedded.py", "server/models/onnx_folder.py"],
    "onnx": ["server/models/minilm_graph.py"],
    "tokenizers": ["server/models/embedded.py", "server/models/onnx_folder.py"],
    "safetensors": ["server/models/minilm_weights.py"],
    "huey": ["server/jobs/queue.py"],
    "cryptography": ["server/storage/sealed.py", "crawler/fetching/signing.py"],
    "http_message_signatures": ["crawler/fetching/signing.py"],
    "http_sf": ["crawler/fetching/preferences.py"],
    "pyotp": ["admin/people/passwords.py"],
    "zxcvbn": ["admin/people/passwords.py"],
    "segno": ["admin/people/passwords.py"],
    "webauthn": ["admin/people/passkeys.py"],
    "jwt": ["server/guards/openid.py"],
    "email_validator": ["server/guards/mail_addresses.py"],
    "smtplib": ["server/contact/mail.py"],
    "honcho": ["server/commands/run.py"],
    "graspologic_native": ["server/retrieval/published/graphrag/reports.py"],
    "gunicorn": ["server/connections.py", "server/serving.py"],
    "minify": ["server/api/assets/widget_files.py"],
    "flask": ["server/api", "server/app.py", "server/serving.py", "admin"],
    "argon2": ["admin/people/passwords.py"],
    "flask_wtf": ["admin"],
    "Stemmer": ["server/languages/stems.py"],
    "rapidfuzz": ["server/indexes/vocabulary.py"],
    "scipy": ["server/retrieval"],
    "sklearn": ["server/retrieval"],
    "threadpoolctl": ["server/retrieval/published/raptor/build.py", "server/runtime/runtime.py"],
    "umap": ["server/retrieval/published/raptor"],
    "filelock": ["server/storage", "server/runtime/sites.py", "server/indexes/vector_copies.py"],
    "pydantic_settings": ["server/settings/reading.py"],
    "packaging": ["server/packages"],
    "prometheus_client": ["server/metrics.py"],
    "opentelemetry": ["server/tracing.py"],
}


def name_of(path):
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


@cache
def tree_of(path):
    return ast.parse(path.read_text(encoding="utf-8"), str(path))


@cache
def nodes_of(path):
    """Walked once: it takes as long as parsing."""
    return tuple(ast.walk(tree_of(path)))


def imports_of(path):
    for node in nodes_of(path):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            assert node.level == 0, f"{path}: relative import"
            yield node.module


def within(module, allowed):
    return any(module == name or module.startswith(name + ".") for name in allowed)


def test_imports_point_inward():
    """The layers are in pyproject.toml; imports for type checking count too."""
    # In a process of its own, because import-linter switches off every logger that exists.
    lint = [
        sys.executable,
        "-c",
        "from importlinter.cli import lint_imports_command as lint; lint()",
        "--no-cache",
    ]
    linted = subprocess.run(lint, cwd=ROOT, capture_output=True, text=True, check=False)
    assert linted.returncode == 0, linted.stdout + linted.stderr


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
    graph = {module: set(imported_modules(path, modules)) - {module} for module, path in modules.items()}
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


def imported_modules(path, modules):
    """Every import counts: inside functions and for type checking too."""
    for node in nodes_of(path):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in modules)
        elif isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                name = f"{node.module}.{alias.name}"
                if name in modules or node.module in modules:
                    yield name if name in modules else node.module


def test_a_folder_is_not_a_heap():
    counts = Counter(path.parent for path in SOURCES if path.name != "__init__.py")
    assert {folder.as_posix(): count for folder, count in counts.items() if count > 25} == {}


def test_a_public_class_name_has_at_most_two_meanings():
    places = defaultdict(list)
    for path in SOURCES:
        for node in tree_of(path).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                places[node.name].append(name_of(path))
    assert {name: found for name, found in places.items() if len(found) > 2} == {}


def test_public_functions_are_typed():
    offenders = []
    for path in SOURCES:
        for node in nodes_of(path):
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
        # The package only sets a variable that a library reads.
        if name_of(path) not in ("server", "server.settings.reading")
        for node in nodes_of(path)
        if isinstance(node, ast.Attribute) and node.attr in ("environ", "getenv")
    ]
    assert offenders == []


def test_no_text_is_run_as_code():
    """No eval, no shell, and nothing that builds objects from bytes."""
    forbidden = ("eval", "exec", "compile", "__import__", "os.system", "os.popen")
    last_names = {name.rpartition(".")[2] for name in forbidden}
    offenders = []
    for path in SOURCES:
        offenders += [
            f"{name_of(path)} imports {imported}"
            for imported in imports_of(path)
            if imported.split(".")[0] in ("pickle", "marshal", "shelve", "dill", "cloudpickle", "jsonpickle")
        ]
        for node in nodes_of(path):
            if isinstance(node, ast.Call):
                shell = any(word.arg == "shell" for word in node.keywords)
                name = getattr(node.func, "id", "") or getattr(node.func, "attr", "")
                if shell or name in last_names:  # to write out each call takes longer than all else
                    called = ast.unparse(node.func)
                    if shell or called in forbidden:
                        offenders.append(f"{name_of(path)}, line {node.lineno}: {called}")
    assert offenders == []


def test_the_domain_needs_only_the_standard_library():
    offenders = [
        f"{name_of(path)} imports {imported}"
        for path in SOURCES
        if "domain" in path.parts
        for imported in imports_of(path)
        if imported.split(".")[0] not in sys.stdlib_module_names
        and not within(imported, {"server.domain", "server.languages"})
    ]
    assert offenders == []


def test_there_is_no_room_for_leftovers():
    leftovers = [path for path in SOURCES if path.stem in ("utils", "helpers", "common", "misc")]
    assert leftovers == [], "name the concept"


def test_the_top_level_is_as_designed():
    allowed = {
        "README.md", "requirements.txt", "env.example", "server", "crawler", "widget", "admin", "tests", "pyproject.toml",
        "Makefile", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md", "LICENSE", "deploy", "Dockerfile", "compose.yaml", "requirements-dev.txt",
        "requirements-models.txt", "requirements.lock", "requirements-dev.lock", "requirements-models.lock", "docs", "benchmarks", "data", "build",
    }  # fmt: skip
    found = {path.name for path in ROOT.iterdir() if not path.name.startswith(".")}
    assert found <= allowed, found - allowed
