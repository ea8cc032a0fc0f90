import assert from "node:assert/strict";
import { test } from "node:test";
import { nodeTokens } from "../../../engine/cluster/node-tokens.js";
import type { Database } from "../../../storage/database.js";
import { RecordingLogger } from "../../doubles/recording-logger.js";
import { VirtualClock } from "../../doubles/virtual-clock.js";

const CLAIMS = {
  vendor: "audiosocket",
  orgId: "org",
  agentId: "agent",
  callerRef: "",
  callKey: "key",
  attempt: 1,
};
const DAY_MS = 86_400_000;

/** Rows that never grow old, with the time for which each was to be kept. */
function newTokens() {
  const clock = new VirtualClock();
  const log = new RecordingLogger();
  const rows = new Map<string, string | null>();
  const kept: (readonly [key: string, keptMs: number])[] = [];
  const store = { fault: undefined as Error | undefined, hasRoom: true };
  const unasked = async (act: () => unknown) => {
    if (store.fault !== undefined) throw store.fault;
    act();
  };
  const onceTokens = {
    take: async (key: string, value: string | null, keptMs: number) => {
      const isFirst = !rows.has(key);
      if (isFirst) rows.set(key, value);
      kept.push([key, keptMs]);
      return { isFirst, value: rows.get(key) ?? null };
    },
    put: async (key: string, row: { readonly value: string }, keptMs: number, max: number) => {
      if (store.hasRoom) rows.set(key, row.value);
      kept.push([`${max}`, keptMs]);
      return store.hasRoom;
    },
    takeOut: async (key: string) => {
      const value = rows.get(key) ?? undefined;
      rows.delete(key);
      return value;
    },
    remember: (key: string, value: string) => unasked(() => rows.set(key, value)),
    release: (key: string) => unasked(() => rows.delete(key)),
  };
  // Only what is called.
  const database = { onceTokens } as unknown as Pick<Database, "onceTokens">;
  return { clock, log, kept, store, tokens: nodeTokens(database, clock, log) };
}

test("a stream's token is used once, and remembered for as long as it could be shown again", async () => {
  const { kept, tokens } = newTokens();
  assert.equal(await tokens.useNonce("a"), undefined);
  assert.equal(await tokens.useNonce("a"), "used");
  assert.equal(await tokens.useNonce("b"), undefined);
  assert.deepEqual(kept[0], ["stream a", 130_000]);
});

test("a repeated webhook gets the same answer on every node", async () => {
  const { kept, tokens } = newTokens();
  const ask = (isUnique: boolean, answer: string) =>
    tokens.answerWebhook({ id: `signature ${isUnique}`, isUnique, answer });
  assert.equal(await ask(true, "first"), "first");
  assert.equal(await ask(true, "second"), "first");
  assert.equal(await ask(false, "other"), "other");
  assert.deepEqual(
    kept.map(([, keptMs]) => keptMs),
    [600_000, 600_000, 60_000],
  );
  assert.match(kept[0]?.[0] ?? "", /^webhook [\w+/]{43}=$/);
});

test("a page's token begins one conversation, and is kept a minute longer than it is good, a day at most", async () => {
  const { clock, kept, tokens } = newTokens();
  const goodFor = (leftMs: number) => ({
    nonce: `${leftMs}`,
    expiresAtMs: clock.epochMs() + leftMs,
  });
  const token = goodFor(5_000);
  const take = (historyKey?: string) => tokens.takeToken({ ...token, historyKey });
  assert.equal(await take(), undefined);
  assert.match((await take()) ?? "", /used for another call/);
  tokens.tokenOpened({ ...token, historyKey: "key" });
  assert.equal(await take("key"), undefined);
  assert.match((await take("another")) ?? "", /used for another call/);
  tokens.releaseToken(token);
  assert.equal(await take(), undefined);
  for (const leftMs of [-5, DAY_MS, DAY_MS + 1]) {
    await tokens.takeToken({ ...goodFor(leftMs), historyKey: undefined });
  }
  assert.deepEqual(
    [kept[0], ...kept.slice(-3)],
    [
      ["client 5000", 65_000],
      ["client -5", 60_000],
      [`client ${DAY_MS}`, DAY_MS + 60_000],
      [`client ${DAY_MS + 1}`, DAY_MS + 60_000],
    ],
  );
});

test("what could not be noted of a token is logged, which call it opened after a minute of tries: no request waits for it", async () => {
  const { clock, log, store, tokens } = newTokens();
  store.fault = new Error("away");
  const token = { nonce: "a", expiresAtMs: 0 };
  tokens.tokenOpened({ ...token, historyKey: "key" });
  tokens.releaseToken(token);
  await new Promise(setImmediate);
  assert.equal(log.ofLevel("warn").length, 1);
  for (let tries = 2; tries <= 30; tries += 1) {
    assert.equal(log.ofLevel("warn").length, 1);
    clock.advance(2_000);
    await new Promise(setImmediate);
  }
  assert.equal(log.ofLevel("warn").length, 2);
  assert.equal(clock.pendingTimerCount, 0);
});

test("a UUID leads to its claims once, and an organization has 500 of them at most", async () => {
  const { kept, store, tokens } = newTokens();
  const uuid = await tokens.mintUuid(CLAIMS);
  assert.match(uuid, /^[0-9a-f-]{36}$/);
  assert.deepEqual(await tokens.redeemUuid(uuid), CLAIMS);
  assert.equal(await tokens.redeemUuid(uuid), undefined);
  assert.deepEqual(kept, [["500", 60_000]]);
  store.hasRoom = false;
  await assert.rejects(Promise.resolve(tokens.mintUuid(CLAIMS)), {
    name: "RequestError",
    code: "overloaded",
  });
});
