import assert from "node:assert/strict";
import { test } from "node:test";
import { askedDatabase } from "../nodes/asked-database.js";

const SLOT = { orgId: "org", callId: "call", callsMax: 2, startId: "start" };

test("a call gets a slot while its organization has fewer than its maximum, and an organization's requests run one after the other", async () => {
  const { database, asked, answers } = askedDatabase();
  answers.push([[{ id: "org" }], 1], [[{ id: "org" }], 0], [1, 0, 1], [1, 1, 0]);
  const take = (replaces?: string) => database.callSlots.take({ ...SLOT, replaces });
  assert.deepEqual([await take(), await take()], [true, false]);
  const [[turn, insert, ...more] = []] = asked;
  assert.match(turn?.sql ?? "", /^select "id" from "organizations" .* for no key update$/);
  assert.match(
    insert?.sql ?? "",
    /where \(select count\(\*\).*\) < \$5\s+on conflict do nothing$/s,
  );
  assert.deepEqual(insert?.parameters, ["call", "org", "start", "org", 2]);
  assert.deepEqual(more, []);
  assert.deepEqual([await take("before"), await take("before")], [true, false]);
  const [, given, , ...rest] = asked[2] ?? [];
  assert.deepEqual(given, {
    sql: `delete from "callSlots" where "callId" = $1 and "orgId" = $2`,
    parameters: ["before", "org"],
  });
  assert.deepEqual(rest, []);
});

test("slots are freed by their holder in one request, and an empty list needs none", async () => {
  const { database, asked } = askedDatabase();
  await database.callSlots.free("start", []);
  assert.equal(asked.length, 0);
  await database.callSlots.free("start", ["call"]);
  await database.callSlots.free("start", ["call", "other"]);
  assert.deepEqual(
    asked.map(([statement]) => statement?.parameters),
    [
      ["start", "call"],
      ["start", "call", "other"],
    ],
  );
});

test("the holder of a call can be found, and only the holder can move the call", async () => {
  const { database, answers } = askedDatabase();
  const { callSlots } = database;
  answers.push([[{ startId: "start" }]], [[]], [1], [0], [[{ callId: "a" }, { callId: "b" }]]);
  answers.push([[{ count: 4 }]]);
  assert.deepEqual(
    [await callSlots.holderOf("call"), await callSlots.holderOf("none")],
    ["start", undefined],
  );
  const move = () => callSlots.move("call", "start", "other");
  assert.deepEqual([await move(), await move()], [true, false]);
  assert.deepEqual(await callSlots.callsOf("start"), ["a", "b"]);
  assert.equal(await callSlots.count("org"), 4);
});
