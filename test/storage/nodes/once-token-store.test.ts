import assert from "node:assert/strict";
import { test } from "node:test";
import { askedDatabase } from "./asked-database.js";

const NOW = "(extract(epoch from clock_timestamp()) * 1000)::bigint";

test("the first user of a key learns that, and all others get the stored value", async () => {
  const { database, asked, answers } = askedDatabase();
  answers.push(
    [1, [{ value: "mine" }]],
    [0, [{ value: "theirs" }]],
    [0, [{ value: null }]],
    [1, []],
  );
  const take = () => database.onceTokens.take("key", "mine", 60_000);
  assert.deepEqual(await take(), { isFirst: true, value: "mine" });
  assert.deepEqual(await take(), { isFirst: false, value: "theirs" });
  assert.deepEqual(await take(), { isFirst: false, value: null });
  assert.deepEqual(await take(), { isFirst: true, value: null });
  const [[insert, known] = []] = asked;
  assert.ok(
    insert?.sql.endsWith(`where "onceTokens"."untilMs" <= ${NOW}`),
    "an expired key is free",
  );
  assert.deepEqual(insert?.parameters, ["key", "", "mine", 60_000, "mine", 60_000]);
  assert.deepEqual(known?.parameters, ["key"]);
});

test("an owner may have a limited number of stored values, and each can be taken out once", async () => {
  const { database, asked, answers } = askedDatabase();
  const row = { owner: "org", value: "claims" };
  answers.push([1], [0]);
  const put = () => database.onceTokens.put("key", row, 60_000, 500);
  assert.deepEqual([await put(), await put()], [true, false]);
  const [[insert] = []] = asked;
  assert.match(insert?.sql ?? "", /where \(select count\(\*\).*"untilMs" > .*\) < \$6$/s);
  assert.deepEqual(insert?.parameters, ["key", "org", "claims", 60_000, "org", 500]);
  answers.push([[{ value: "claims" }]], [[]], [[{ value: null }]]);
  const takeOut = () => database.onceTokens.takeOut("key");
  assert.deepEqual(
    [await takeOut(), await takeOut(), await takeOut()],
    ["claims", undefined, undefined],
  );
  const [removal] = asked[2] ?? [];
  assert.match(removal?.sql ?? "", /^delete .* "untilMs" > .* returning "value"$/);
});

test("a key with a stored value is kept on release, and expired ones are removed ten thousand at a time", async () => {
  const { database, asked } = askedDatabase();
  await database.onceTokens.remember("key", "value");
  await database.onceTokens.release("key");
  await database.onceTokens.purge();
  assert.deepEqual(
    asked.map(([statement]) => statement),
    [
      {
        sql: `update "onceTokens" set "value" = $1 where "key" = $2`,
        parameters: ["value", "key"],
      },
      { sql: `delete from "onceTokens" where "key" = $1 and "value" is null`, parameters: ["key"] },
      {
        sql: `delete from "onceTokens" where "key" in (select "key" from "onceTokens" where "untilMs" <= ${NOW} limit $1)`,
        parameters: [10_000],
      },
    ],
  );
});
