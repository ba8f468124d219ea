import assert from "node:assert/strict";
import { test } from "node:test";
import { markdown, parse } from "../../../widget/src/markup.js";

/** The tree as markup again, to compare by eye. */
const show = (trees) =>
  trees.map((tree) => {
    if (typeof tree === "string") return tree;
    const attributes = Object.entries(tree.attributes).map(([name, value]) => ` ${name}="${value}"`).join("");
    return `<${tree.tag}${attributes}>${show(tree.children)}</${tree.tag}>`;
  }).join("");

test("keeps the allowed elements and decodes entities once", () => {
  assert.equal(show(parse("<p>a &amp;lt; <em>b</em> &#233;&#x4e2d; &nosuch;</p>")), "<p>a &lt; <em>b</em> é中 &nosuch;</p>");
});

test("leaves of unknown elements nothing but their words, which do nothing", () => {
  assert.equal(show(parse("<script>alert(1)</script><form>kept</form><img src=x onerror=alert(1)>")), "alert(1)kept");
  assert.equal(show(parse("<svg><a href='https://a.example/'>b</a>")), '<a href="https://a.example/">b</a>');
});

test("drops every attribute but a few, and addresses that do more than open something", () => {
  const html = '<a href="javascript:alert(1)" onclick="x()">1</a><a href="java&#115;cript:x">2</a><a HREF="https://a.example/?a=1&amp;b=2">3</a><ol start="2" style="x">4</ol>';
  assert.equal(show(parse(html)), '<a href="">1</a><a href="">2</a><a href="https://a.example/?a=1&b=2">3</a><ol start="2">4</ol>');
  assert.equal(show(parse('<p data-href="https://x" title="href=&quot;y&quot;">t</p>')), "<p>t</p>");
});

test("keeps citation markers", () => {
  assert.equal(show(parse('<a class="cite" href="#cite-1" data-cite="1">1</a>')), '<a href="#cite-1" data-cite="1">1</a>');
});

test("survives markup that is not well-formed", () => {
  assert.equal(show(parse("</p><p>a<em>b</p>c</em> 1 < 2 <")), "<p>a<em>b</em></p>c 1 < 2 <");
  assert.equal(show(parse("<!-- <p>hidden</p> -->x<!-- open")), "x");
  assert.ok(JSON.stringify(parse("<li>".repeat(5000))).length < 5000, "deep nesting is cut off");
});

test("headings all become of one level", () => {
  assert.equal(show(parse("<h1>a</h1><h6>b</h6>")), "<h3>a</h3><h3>b</h3>");
});

test("reads the Markdown of answers", () => {
  const text = "# Title\nOne *two* **three** `four*` [1]\nnext line\n\n- a\n- b [2]\n\n3. c\n4. d\n\n| h | i |\n|---|---|\n| j | k |\n\n```py\nx = [1]\n```";
  assert.equal(
    show(markdown(text)),
    '<h3>Title</h3><p>One <em>two</em> <strong>three</strong> <code>four*</code> <a data-cite="1"></a>\nnext line</p>' +
      '<ul><li>a</li><li>b <a data-cite="2"></a></li></ul><ol start="3"><li>c</li><li>d</li></ol>' +
      "<table><tr><th>h</th><th>i</th></tr><tr><td>j</td><td>k</td></tr></table><pre><code>x = [1]</code></pre>",
  );
});

test("every beginning of an answer is shown without loss of words", () => {
  const text = "See **the docks** and [the map](https://a.example/map) at 5 * 3 [1].\n\n```\ncode\n```\n";
  for (let end = 0; end <= text.length; end++) {
    const shown = show(markdown(text.slice(0, end)));
    for (const word of text.slice(0, end).match(/\b(See|docks|map|code)\b(?=\W)/g) || []) assert.ok(shown.includes(word), `${word} in ${shown}`);
  }
  assert.equal(show(markdown("half [the map](https://a.exa")), "<p>half [the map](https://a.exa</p>");
});

test("a link of Markdown that would run code is none", () => {
  assert.equal(show(markdown("[x](javascript:alert(1))")), '<p><a href="">x</a>)</p>');
});

test("markup in Markdown is text", () => {
  assert.deepEqual(markdown("<img src=x onerror=alert(1)>")[0].children, ["<img src=x onerror=alert(1)>"]);
});
