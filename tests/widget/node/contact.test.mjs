import assert from "node:assert/strict";
import { test } from "node:test";

process.env.TZ = "Europe/Berlin";
const { offered } = await import("../../../widget/src/contact.js");
const { opening } = await import("../../../widget/src/hours.js");

const NOW = Date.parse("2026-03-06T18:00:00Z"); // a Friday
const words = (...given) => opening(...given, NOW).replaceAll("\u202f", " ");

test("the next opening is told in the visitor's language and time zone", () => {
  assert.match(words("2026-03-09T08:00:00Z", "en"), /^Monday, March 9.* 9:00 AM$/);
  assert.match(words("2026-03-09T08:00:00+00:00", "de"), /^Montag, 9. März.* 0?9:00$/);
  assert.match(words("2026-03-09T08:00:00Z", "ar"), /الاثنين|الإثنين/);
});

test("one that has passed or is none says nothing", () => {
  for (const time of ["2026-03-06T17:59:00Z", "", undefined, "soon"]) assert.equal(opening(time, "en", NOW), "");
});

const asked = { role: "visitor", text: "q" };
const reply = (outcome, state = "done") => ({ role: "answer", state, outcome });

for (const [name, messages, how] of [
  ["nothing is asked", [], ""],
  ["the answer is refused", [asked, reply("refused")], "closed"],
  ["the question after a refused one is answered", [asked, reply("refused"), asked, reply("answered")], ""],
  ["the visitor asks for a person", [asked, reply("handoff")], "open"],
  ["the site answers no more today", [asked, reply("limited")], "closed"],
  ["the answer is still being written", [asked, reply("refused"), asked, reply("refused", "writing")], ""],
  ["the next question is on its way", [asked, reply("handoff"), asked, reply(undefined, "searching")], ""],
  ["a message has gone since", [asked, reply("handoff"), { role: "contact", text: "R-1" }], ""],
])
  test(`the form is offered ${how || "not"} when ${name}`, () => assert.equal(offered(messages), how));
