import assert from "node:assert/strict";
import test from "node:test";

import { clean, dress } from "../../../widget/src/look.js";

const HOST = "https://docent.example";
const written = (said, look) => {
  const rules = {};
  dress({ setProperty: (name, value, priority) => (rules[name] = `${value} !${priority}`) }, { getAttribute: (name) => said[name] ?? null }, look);
  return rules;
};

test("a value that could call or end something is left out", () => {
  for (const value of ["url(//x)", "1px;}", "red}", "/*", "'x'", "\\75rl", "<b>", "x:y", "\n"])
    for (const name of ["accent", "radius", "offset", "font"]) assert.equal(clean({ [name]: value }, HOST)[name], undefined, `${name} ${value}`);
});

test("plain values and words of any script stay", () => {
  const look = { accent: "#ffd54a", radius: "0px", offset: "12px", font: "Noto Sans, 游ゴシック, sans-serif", label: "Ask (us); {now}", title: "" };
  assert.deepEqual(clean({ ...look }, HOST), { ...look, avatar: "" });
});

test("a picture comes from the server or by https", () => {
  const picture = (avatar) => clean({ avatar }, HOST).avatar;
  assert.equal(picture("/media/a.png"), `${HOST}/media/a.png`);
  assert.equal(picture("https://cdn.example/a.png"), "https://cdn.example/a.png");
  for (const address of ["http://cdn.example/a.png", "//cdn.example/a.png", "/\\cdn.example/a.png", "javascript:x", "data:image/png,x", ""])
    assert.equal(picture(address), "", address);
});

test("the attribute wins, then the page's custom property, then the look, then the default", () => {
  assert.deepEqual(written({ accent: "red" }, { accent: "#123456", radius: "4px" }), {
    "--accent": "red !important",
    "--offset": "var(--site-chat-offset, 20px) !important",
    "--radius": "var(--site-chat-radius, 4px) !important",
    "font-family": "var(--site-chat-font, system-ui, sans-serif) !important",
  });
});
