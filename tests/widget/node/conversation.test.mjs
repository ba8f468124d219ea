import assert from "node:assert/strict";
import { createServer } from "node:http";
import { after, beforeEach, test } from "node:test";
import { makeApi } from "../../../widget/src/api.js";
import { makeConversation } from "../../../widget/src/conversation.js";
import { makeStore } from "../../../widget/src/store.js";

/** What the server does with the next chat requests: functions of (response, last event id, body). */
let acts = [];
let seen = [];
const server = createServer(async (request, response) => {
  let text = "";
  for await (const piece of request) text += piece;
  const body = text ? JSON.parse(text) : {};
  const send = (status, data) => response.writeHead(status, { "Content-Type": "application/json" }).end(JSON.stringify(data));
  if (request.url.endsWith("/visitors")) return send(200, { token: `t${seen.push("visitors")}`, expires_in: 3600 });
  seen.push(body.resume ? `resume ${request.headers["last-event-id"]}` : `ask ${body.message} ${body.conversation_id || "-"}`);
  acts.shift()(response, send);
});
await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
const home = `http://127.0.0.1:${server.address().port}/api/v1/`;
after(() => server.close());

const event = (number, type, data, message = "m1") => `id: ${message}:${number}\nevent: ${type}\ndata: ${JSON.stringify(data)}\n\n`;
const META = event(1, "meta", { conversation_id: "c1", message_id: "m1" });
const DONE = event(9, "done", { answer: "one two", answer_html: "<p>one two</p>", citations: [], suggestions: [], outcome: "answered" });
const stream = (...pieces) => (response) => response.writeHead(200, { "Content-Type": "text/event-stream" }).end(pieces.join(""));
const cut = (...pieces) => (response) => {
  response.writeHead(200, { "Content-Type": "text/event-stream" });
  response.write(pieces.join(""), () => setTimeout(() => response.destroy(), 20));
};

let site = 0;
const begin = (texts = []) => {
  const store = makeStore(`s${site++}`);
  const talk = makeConversation(makeApi(home, "harbour", store), store, makeStore(`t${site}`), (reply) => texts.push(reply?.text));
  return { talk, store, texts };
};
beforeEach(() => {
  acts = [];
  seen = [];
});

test("an answer is streamed and replaced by the whole one", async () => {
  const { talk, texts } = begin();
  acts = [stream(META, event(2, "delta", { text: "on" }), event(3, "delta", { text: "e" }), DONE)];
  await talk.ask(" first? ");
  const [question, reply] = talk.talk.messages;
  assert.deepEqual(question, { role: "visitor", text: "first?", page: undefined });
  assert.equal(reply.state, "done");
  assert.equal(reply.html, "<p>one two</p>");
  assert.ok(texts.includes("on") && texts.includes("one"));
  assert.deepEqual(seen, ["visitors", "ask first? -"]);
});

test("the next question goes into the same conversation, with the same token", async () => {
  const { talk } = begin();
  acts = [stream(META, DONE), stream(META.replaceAll("m1", "m2"), DONE.replaceAll("m1", "m2"))];
  await talk.ask("one");
  await talk.ask("two");
  assert.deepEqual(seen, ["visitors", "ask one -", "ask two c1"]);
});

test("a cut stream goes on behind the last event, and what comes twice counts once", async () => {
  const { talk, texts } = begin();
  acts = [
    cut(META, event(2, "delta", { text: "one" }), "id: m1:3\nevent: del"),
    stream(event(2, "delta", { text: "one" }), event(3, "delta", { text: " two" }), event(9, "error", { error: { code: "x" } })),
  ];
  await talk.ask("q");
  assert.ok(seen.includes("resume m1:2"));
  assert.ok(texts.includes("one two"));
  assert.ok(!texts.includes("oneone"));
  assert.equal(talk.talk.messages[1].state, "failed");
  assert.equal(talk.talk.messages[1].error.kind, "cut");
});

test("an answer that the server no longer has is asked for again, without the old words", async () => {
  const { talk } = begin();
  acts = [cut(META, event(2, "delta", { text: "old" })), (_, send) => send(404, {}), stream(META.replaceAll("m1", "m2"), event(2, "delta", { text: "new" }, "m2"), event(9, "error", { error: {} }, "m2"))];
  await talk.ask("q");
  assert.deepEqual(seen, ["visitors", "ask q -", "resume m1:2", "ask q c1"]);
  assert.equal(talk.talk.messages[1].text, "new");
});

test("a conversation that the server no longer has is left for a new one", async () => {
  const { talk } = begin();
  acts = [stream(META, DONE), (_, send) => send(404, {}), stream(META.replaceAll("m1", "m2"), DONE.replaceAll("m1", "m2"))];
  await talk.ask("one");
  await talk.ask("two");
  assert.deepEqual(seen.slice(1), ["ask one -", "ask two c1", "ask two -"]);
  assert.equal(talk.talk.messages[3].state, "done");
});

test("a token that is no longer taken is renewed once", async () => {
  const { talk } = begin();
  acts = [(_, send) => send(401, {}), (_, send) => send(401, {})];
  await talk.ask("q");
  assert.deepEqual(seen, ["visitors", "ask q -", "visitors", "ask q -"]);
  assert.equal(talk.talk.messages[1].error.kind, "failed");
});

for (const [status, kind] of [[403, "refused"], [422, "long"], [500, "failed"]])
  test(`status ${status} is told as ${kind}, and asking again works`, async () => {
    const { talk } = begin();
    acts = [(_, send) => send(status, {}), stream(META, DONE)];
    await talk.ask("q");
    assert.equal(talk.talk.messages[1].error.kind, kind);
    await talk.retry();
    assert.equal(talk.talk.messages[1].state, "done");
    assert.equal(talk.talk.messages[1].error, undefined);
    assert.equal(talk.talk.messages.length, 2);
  });

test("too many questions: the waiting time is kept", async () => {
  const { talk } = begin();
  acts = [(_, send) => send(429, { error: { code: "rate_limited", retry_after: 30 } })];
  await talk.ask("q");
  const { kind, until } = talk.talk.messages[1].error;
  assert.equal(kind, "limited");
  assert.ok(Math.abs(until - Date.now() - 30000) < 3000);
});

test("stopping keeps the words that had come", async () => {
  const { talk } = begin();
  acts = [(response) => response.writeHead(200, { "Content-Type": "text/event-stream" }).write(META + event(2, "delta", { text: "so far" }))];
  const asked = talk.ask("q");
  while (!talk.talk.messages[1].text) await new Promise((resolve) => setTimeout(resolve, 5));
  talk.stop();
  await asked;
  assert.equal(talk.talk.messages[1].state, "stopped");
  assert.equal(talk.talk.messages[1].text, "so far");
  assert.equal(talk.busy, false);
  server.closeAllConnections();
});

test("while an answer is written no other question is asked", async () => {
  const { talk } = begin();
  acts = [stream(META, DONE)];
  await Promise.all([talk.ask("one"), talk.ask("two")]);
  assert.equal(talk.talk.messages.length, 2);
});

test("erasing forgets the conversations, the visitor and the current talk", async () => {
  const { talk, store } = begin();
  acts = [stream(META, DONE), (_, send) => send(200, {})];
  await talk.ask("q");
  assert.equal(talk.talks.length, 1);
  await talk.erase();
  assert.equal(talk.talks.length, 0);
  assert.equal(store.get("visitor"), undefined);
  assert.deepEqual(talk.talk.messages, []);
});
