import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { test } from "node:test";
import { solve } from "../../../widget/src/proof.js";

const zeros = (text) => createHash("sha256").update(text).digest("hex").match(/^0*/)[0].length * 4;

for (const bits of [0, 4, 8, 12])
  test(`a text is found that gives ${bits} zero bits`, async () => {
    const nonce = await solve("c3VyZQ.1.é", bits);
    assert.equal(typeof nonce, "string");
    assert.ok(zeros(`c3VyZQ.1.é:${nonce}`) >= bits);
  });

test("it can be given up, and tells how long it has worked", async () => {
  const giving = new AbortController();
  const times = [];
  const working = (time) => times.push(time) === 3 && giving.abort();
  await assert.rejects(solve("c", 32, giving.signal, working), { name: "AbortError" });
  assert.equal(times.length, 3);
  assert.ok(times[0] <= times[2]);
});

test("other work goes on meanwhile", async () => {
  const giving = new AbortController();
  let turns = 0;
  const timer = setInterval(() => ++turns === 5 && giving.abort(), 1);
  await assert.rejects(solve("c", 32, giving.signal));
  clearInterval(timer);
  assert.ok(turns >= 5);
});

test("a browser without SHA-256 says so", async () => {
  const real = Object.getOwnPropertyDescriptor(globalThis, "crypto");
  Object.defineProperty(globalThis, "crypto", { value: {}, configurable: true });
  await assert.rejects(solve("c", 4), { code: "insecure" });
  Object.defineProperty(globalThis, "crypto", real);
});
