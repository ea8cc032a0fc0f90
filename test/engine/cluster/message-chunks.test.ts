import assert from "node:assert/strict";
import { test } from "node:test";
import { messageChunks } from "../../../engine/cluster/node-bus.js";

const MAIL_BYTES_MAX = 7_900;
const HEAD = '{"from":"node"';
/** The text around the list, and a comma after each item. */
const ROOM = MAIL_BYTES_MAX - HEAD.length - ',"items":[]}'.length;
/** Two bytes are the quotes, and one is the comma. */
const itemOf = (bytes: number) => "x".repeat(bytes - 3);

test("items go together for as long as the message has room for them, and one byte more begins another", () => {
  const [one, other] = [itemOf(1_000), itemOf(ROOM - 1_000)];
  const together = messageChunks(HEAD, "items", [one, other]);
  assert.deepEqual(together, [JSON.stringify({ from: "node", items: [one, other] })]);
  assert.deepEqual(messageChunks(HEAD, "items", [one, `${other}x`]), [
    JSON.stringify({ from: "node", items: [one] }),
    JSON.stringify({ from: "node", items: [`${other}x`] }),
  ]);
});

test("a character is counted by the bytes that it takes", () => {
  const wide = "ä".repeat((ROOM - 3) / 2);
  assert.equal(messageChunks(HEAD, "items", [wide]).length, 1);
  assert.equal(messageChunks(HEAD, "items", [1, wide]).length, 2);
});
