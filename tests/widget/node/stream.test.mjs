import assert from "node:assert/strict";
import { test } from "node:test";
import { eventParser } from "../../../widget/src/api.js";

const TEXT = ': beat\n\nid: m1:1\nevent: meta\ndata: {"a":1}\n\nevent: delta\ndata:one: two\nid: m1:2\n\nretry: 5\n\ndata: é中🙂\n\n';
const EVENTS = [
  { event: "meta", data: '{"a":1}', id: "m1:1" },
  { event: "delta", data: "one: two", id: "m1:2" },
  { data: "é中🙂" },
];

test("events come out the same however they are cut", () => {
  for (let size = 1; size <= TEXT.length; size++) {
    const parse = eventParser();
    const events = [];
    for (let at = 0; at < TEXT.length; at += size) events.push(...parse(TEXT.slice(at, at + size)));
    assert.deepEqual(events, EVENTS, `pieces of ${size}`);
  }
});

test("an event that is not complete is not an event", () => {
  assert.deepEqual(eventParser()("event: delta\ndata: half"), []);
  assert.deepEqual(eventParser()("event: delta\ndata: half\n"), []);
});
