import assert from "node:assert/strict";
import { test } from "node:test";
import { NOON_MS } from "../sample-records.js";
import { askedDatabase } from "./asked-database.js";

const NOW = "(extract(epoch from clock_timestamp()) * 1000)::bigint";
const NODE = { startId: "start", name: "one", address: null, version: "1", capacity: 10 };
const SAID = { calls: 3, load: 0.5, isTaking: true };

test("a starting server has no calls and accepts none yet, with times from the database's clock", async () => {
  const { database, asked } = askedDatabase();
  await database.nodes.register(NODE);
  assert.deepEqual(asked, [
    [
      {
        sql: `insert into "nodes" ("startId", "name", "address", "version", "capacity", "calls", "load", "isTaking", "isDraining", "isLost", "startedAtMs", "heartbeatAtMs") values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, ${NOW}, ${NOW})`,
        parameters: ["start", "one", null, "1", 10, 0, 0, 0, 0, 0],
      },
    ],
  ]);
});

test("a heartbeat stores the server's state and returns all servers, except to one that was declared dead", async () => {
  const { database, asked, answers } = askedDatabase();
  const nodes = [{ ...NODE, silentMs: 5 }];
  answers.push([1, nodes], [0, nodes], [1, []]);
  assert.deepEqual(await database.nodes.beat("start", SAID), nodes);
  assert.equal(await database.nodes.beat("start", { ...SAID, isTaking: false }), undefined);
  assert.deepEqual(await database.nodes.beat("start", SAID), []);
  const [beat, all] = asked[0] ?? [];
  assert.match(beat?.sql ?? "", /^update "nodes" set .* where "startId" = \$4 and "isLost" = \$5$/);
  assert.deepEqual(beat?.parameters, [3, 0.5, 1, "start", 0]);
  assert.deepEqual(asked[1]?.[0]?.parameters, [3, 0.5, 0, "start", 0]);
  assert.ok(all?.sql.includes(`${NOW} - "heartbeatAtMs" as "silentMs"`));
  assert.match(all?.sql ?? "", / order by "name"$/);
});

test("a server is declared dead only with its last heartbeat, and accepts no more calls then", async () => {
  const { database, asked, answers } = askedDatabase();
  const state = { ...SAID, isTaking: 1, isDraining: 0, isLost: 0 };
  const seen = { ...NODE, ...state, startedAtMs: 1, heartbeatAtMs: NOON_MS, silentMs: 20_000 };
  answers.push([1], [0]);
  assert.deepEqual(
    [await database.nodes.lose(seen), await database.nodes.lose(seen)],
    [true, false],
  );
  const [[statement] = []] = asked;
  assert.match(
    statement?.sql ?? "",
    /set "isLost" = \$1, "isTaking" = \$2 where .* "heartbeatAtMs" = /,
  );
  assert.deepEqual(statement?.parameters, [1, 0, "start", NOON_MS]);
});

test("a drained server accepts no more calls at once, and an unknown one cannot be drained", async () => {
  const { database, asked, answers } = askedDatabase();
  answers.push([1], [0]);
  assert.deepEqual(
    [await database.nodes.drain("one"), await database.nodes.drain("two")],
    [true, false],
  );
  const [[statement] = []] = asked;
  assert.match(statement?.sql ?? "", /^update "nodes" set "isDraining" = \$1, "isTaking" = \$2/);
  assert.deepEqual(statement?.parameters, [1, 0, "one"]);
});

test("runs belong to a server as long as it exists", async () => {
  const { database, asked, answers } = askedDatabase();
  await database.nodes.addRun("start", "run");
  answers.push([[{ runId: "run" }, { runId: "run 2" }]], [[{ runId: "orphan" }]]);
  assert.deepEqual(await database.nodes.runsOf("start"), ["run", "run 2"]);
  assert.deepEqual(await database.nodes.orphanRuns(), ["orphan"]);
  await database.nodes.remove("start");
  assert.deepEqual(
    asked.map(([statement]) => [
      statement?.sql.split(" ").slice(0, 3).join(" "),
      statement?.parameters,
    ]),
    [
      ['insert into "nodeRuns"', ["run", "start"]],
      ['select "runId" from', ["start"]],
      ['select distinct "runId"', []],
      ['delete from "nodes"', ["start"]],
    ],
  );
});
