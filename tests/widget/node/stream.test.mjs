import assert from "node:assert/strict";
import { test } from "node:test";
import { eventParser } from "../../../widget/src/api.js";

const TEXT = ': beat\n\nid: m1:1\nevent: meta\ndata: {"a":1}\n\nevent: delta\ndata:one\ndata: two\n\nretry: 5\ndata: é中🙂\n\n';
const EVENTS = [
  { event: "meta", data: '{"a":1}', id: "m1:1" },
  { event: "delta", data: "one\ntwo", id: "m1:1" },
  { event: "message", data: "é中🙂", id: "m1:1" },
];

for (const [name, end] of Object.entries({ "line feeds": "\n", "carriage returns": "\r", both: "\r\n" }))
  test(`events with ${name} come out the same however they are cut`, () => {
    const text = TEXT.replaceAll("\n", end) + (end === "\r" ? ":" : "");
    for (let size = 1; size <= text.length; size++) {
      const parse = eventParser();
      const events = [];
      for (let at = 0; at < text.length; at += size) events.push(...parse(text.slice(at, at + size)));
      assert.deepEqual(events, EVENTS, `pieces of ${size}`);
    }
  });

test("an event that is not complete is not an event", () => {
  assert.deepEqual(eventParser()("event: delta\ndata: half"), []);
  assert.deepEqual(eventParser()("event: delta\ndata: half\n"), []);
});
