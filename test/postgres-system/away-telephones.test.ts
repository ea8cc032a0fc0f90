import assert from "node:assert/strict";
import { test } from "node:test";
import { PostgresCluster } from "../../bench/stand/postgres-cluster.js";
import type { PhoneCaller } from "../../engine/sandbox/telephone/phone-caller.js";
import { closeOf } from "../system/events.js";
import { heard, ring } from "../system/telephone-stand.js";
import { TestServer } from "../system/test-server.js";

const CALLS = 40;
const AWAY_MS = 10_000;
/** Far more turns than a call has in AWAY_MS: the end of a run in which time stands still. */
const TURNS_MAX = 100;

/** Says the word and hears it back: a finished turn. */
async function turn(caller: PhoneCaller, word: string): Promise<void> {
  await caller.say(`say ${word}`);
  await heard(caller, word);
}

test("forty telephone calls continue while PostgreSQL is down for ten seconds, and no finished turn is lost", async (context) => {
  const cluster = await PostgresCluster.start();
  const environment = { DATABASE_URL: await cluster.makeDatabase() };
  const server = await TestServer.start({ environment });
  context.after(() => server.stop());
  const customer = await server.customer("enterprise");
  await server.agent(customer, { persona: { greeting: "Hello there." } });
  const callers: PhoneCaller[] = [];
  // One after the other: what forty at once do to a busy machine is another test's.
  for (let count = 0; count < CALLS; count += 1) callers.push(await ring(server, customer));
  const all = (work: (caller: PhoneCaller) => Promise<unknown>) => Promise.all(callers.map(work));
  await all((caller) => heard(caller, "Hello there."));
  await all((caller) => turn(caller, "before"));

  await cluster.stop();
  const awayFromMs = performance.now();
  const said: string[] = [];
  while (performance.now() - awayFromMs < AWAY_MS) {
    assert.ok(said.length < TURNS_MAX, "turns take no time");
    const word = `word${said.length}`;
    await all((caller) => turn(caller, word));
    said.push(word);
  }
  const { code, reason } = await closeOf(server.dial(customer));
  assert.equal(code, 4029);
  assert.match(reason, /takes no calls for the moment/);
  await assert.rejects(ring(server, customer), /503/);
  await cluster.resume();

  await all((caller) => turn(caller, "after"));
  await all((caller) => caller.hangUp());
  const calls = await server.endedCalls(customer, CALLS);
  assert.equal(calls.length, CALLS);
  const words = ["before", ...said, "after"].flatMap((word) => [`say ${word}`, word]);
  for (const { status, transcript, metadata } of calls) {
    assert.deepEqual([status, metadata["endReason"]], ["completed", "callerLeft"]);
    assert.equal(metadata["lostTurns"], undefined);
    const [greeting, ...turns] = transcript.map(({ text }) => text);
    assert.equal(greeting, "Hello there.");
    assert.deepEqual(turns, words);
  }
  await server.settled();
});
