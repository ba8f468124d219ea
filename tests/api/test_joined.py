"""The widget's modules as they are sent: each with what it imports."""

import subprocess

import pytest

from server.api.assets.widget_files import JoinError, WidgetFiles, joined

SOURCES = {
    "src/first.js": 'import { add, NAME } from "./lib/sums.js";\nimport { tell } from "./tell.js";\n\n'
    "const local = 1;\nexport const shown = tell(NAME, add(local, 2));\n",
    "src/tell.js": 'import {\n  NAME,\n} from "./lib/sums.js";\n'
    "const local = `${NAME}:`;\nexport async function* none() {}\nexport const tell = (name, sum) => `${local} ${name} ${sum}`;\n",
    "src/lib/sums.js": 'export const NAME = "export const x";\nconst local = 5;\n'
    "export function add(a, b) {\n  return a + b + local - 5;\n}\nexport class Sum {}\n",
}


def test_a_module_and_its_imports_do_together_what_they_do_apart(tmp_path, node):
    said = []
    for name, sources in {
        "apart": SOURCES,
        "joined": {"src/first.js": joined("src/first.js", SOURCES)},
    }.items():
        for path, text in sources.items():
            file = tmp_path / name / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)
        (tmp_path / name / "package.json").write_text('{"type": "module"}')
        run = 'import("./src/first.js").then(({ shown }) => console.log(shown))'
        done = subprocess.run(
            [node, "-e", run], cwd=tmp_path / name, capture_output=True, text=True, timeout=30
        )
        said.append((done.stdout, done.stderr))
    assert said == [("export const x: export const x 3\n", "")] * 2


def test_what_imports_nothing_is_sent_as_it_is():
    assert joined("src/lib/sums.js", SOURCES) == SOURCES["src/lib/sums.js"]


@pytest.mark.parametrize(
    ("sources", "words"),
    [
        (
            {"a.js": 'import { b } from "./b.js";\n', "b.js": 'import { a } from "./a.js";\nexport const b = 1;\n'},
            "a.js -> b.js -> a.js",
        ),
        ({"a.js": 'import { b } from "./b.js";\n'}, "no module b.js"),
        ({"a.js": 'import { b } from "./b.js";\nimport c from "./c.js";\n', "b.js": ""}, "import c from"),
        ({"a.js": 'import { b } from "./b.js";\n', "b.js": "export default 1;\n"}, "export default 1"),
        (
            {
                "a.js": 'import { b } from "./b.js";\nimport { c } from "./c.js";\n',
                "b.js": "export const b = 1;\n",
                "c.js": "export const c = 2, d = 3;\nexport const b = 1;\n",
            },
            "several modules export b",
        ),
    ],
)  # fmt: skip
def test_what_cannot_be_joined_is_told(sources, words):
    with pytest.raises(JoinError, match=words):
        joined("a.js", sources)


def test_the_widget_is_fetched_in_one_piece_beside_its_texts():
    files = WidgetFiles().current().files
    sent = files["src/site-chat.js"].body.decode()
    assert 'from "./' not in sent
    assert "customElements.define" in sent
    assert "visitors/me" in sent
    assert "/**" not in sent
