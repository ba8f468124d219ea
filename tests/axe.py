"""What axe-core finds on a page of a real browser."""

from pathlib import Path

import axe_playwright_python

SCRIPT = (Path(axe_playwright_python.__file__).parent / "axe.min.js").read_text(encoding="utf-8")

_RUN = """async ([rules, without]) => {
  const off = Object.fromEntries(without.map((rule) => [rule, { enabled: false }]));
  const { violations } = await axe.run(document, { resultTypes: ["violations"], rules: off, ...(rules.length && { runOnly: rules }) });
  return violations.flatMap(({ id, nodes }) => nodes.map(({ html, failureSummary }) => `${id}: ${html.slice(0, 140)} ${failureSummary}`));
}"""

# A row or an item says nothing new to axe-core when it has the tags, classes and attributes of one before it.
_THIN_OUT = """() => {
  const attributes = (node) => [...node.attributes].map(({ name, value }) =>
    /^(id|href|for|value|name|datetime|title|data-.*|aria-(label|labelledby|describedby|controls))$/.test(name) ? `${name}${value ? "" : "!"}` : `${name}=${value}`);
  const kind = (node) => [node.localName, ...attributes(node), ...[...node.childNodes].map((child) =>
    child.nodeType === 1 ? `<${kind(child)}>` : child.textContent.trim() ? "text" : "")].join(" ");
  for (const list of document.querySelectorAll("tbody, ul, ol, dl")) {
    const seen = new Set();
    for (const node of [...list.children].filter(({ localName }) => localName === "tr" || localName === "li")) {
      const one = kind(node);
      if (seen.has(one)) node.remove();
      seen.add(one);
    }
  }
}"""


def preload(tab):
    """Loads axe-core with each page of a tab or of a browser context: sending it to a loaded page takes as long as
    loading the page. Frames go without it, so that axe-core does not look into them."""
    tab.add_init_script(f"if (window === top) {{ {SCRIPT} }}")


def findings(page, rules=(), without=()):
    """A line for each element with a finding; of these rules or tags of rules only, if any are given, and of none
    of those in `without`."""
    if not page.evaluate("'axe' in window"):
        page.evaluate(SCRIPT)
    return page.evaluate(_RUN, [list(rules), list(without)])


def thin_out(page):
    """Removes from tables and lists what is built as a part before it: axe-core takes long for each."""
    page.evaluate(_THIN_OUT)
