"""What the minifier leaves of a script does the same."""

import subprocess

from server.api.assets.widget_files import minified


def test_style_rules_lose_their_white_space_and_nothing_else():
    source = "const X = 3;\nexport const RULES = `\n:host([a]) .b, .c > li + li { width: calc(100% - ${X}px); color: red;\n  margin: 0 1px }\n@media (x: y) { q { top: 0 } }\n`;\n"
    small = minified(source)
    assert (
        ":host([a]) .b,.c>li + li{width:calc(100% - ${X}px);color:red;margin:0 1px}@media (x:y){q{top:0}}"
        in small.replace("${3}", "${X}")
    )


def test_other_templates_stay_as_they_are():
    small = minified("export const say = (name) => `Hello, ${name} { a: b; }`;\n")
    assert "Hello, ${" in small
    assert "} { a: b; }`" in small


def test_a_minified_script_says_what_the_long_one_said(tmp_path, node):
    source = """
const make = (messages) => {
  if (messages.at(-1)?.role !== "answer") return "";
  const replies = messages.filter(({ role }) => role === "answer");
  const [last, before] = replies.slice(-2).reverse();
  if (last.state !== "done") return "";
  const lost = last.outcome === "limited" || before?.outcome === "refused";
  return lost ? "closed" : "";
};
console.log(make([{ role: "answer", state: "done", outcome: "limited" }]));
"""
    for name, text in (("long", source), ("short", minified(source))):
        file = tmp_path / f"{name}.mjs"
        file.write_text(text)
        done = subprocess.run([node, file], capture_output=True, text=True, timeout=30)
        assert done.stdout == "closed\n", (name, text, done.stderr)
