import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";
import { AnswerLog } from "../../../../engine/vendors/chain/answer-log.js";
import { Breakers } from "../../../../engine/vendors/chain/breakers.js";
import { type Chain, type ChainLink, worstOf } from "../../../../engine/vendors/chain/chain.js";
import { VendorError } from "../../../../engine/vendors/contracts.js";
import { VirtualClock } from "../../../doubles/virtual-clock.js";
import { chainOf } from "./chain-of.js";

const DOWN = new VendorError("one", "unavailable", "one: down");
const WASTED = { ms: 300, tokens: 0 };
const NO_HEDGES = { asked: 0, won: 0, withheld: 0, wastedTokens: 0 };

let log: AnswerLog;

beforeEach(() => {
  log = new AnswerLog();
});

function link(vendor: string): ChainLink<unknown> {
  const credential = { id: vendor, version: 1, category: "llm", vendor } as const;
  const breaker = new Breakers(new VirtualClock()).of(credential);
  return { vendor, modelId: `${vendor}-model`, orgId: "org", client: undefined, breaker };
}

test("a turn's record names its vendor, once, each category separately", () => {
  log.answered("llm", link("one"));
  log.answered("tts", link("voice"));
  log.answered("llm", link("two"));
  assert.deepEqual(log.take(), {
    llm: { vendor: "two", model: "two-model" },
    tts: { vendor: "voice", model: "voice-model" },
  });
  assert.deepEqual(log.take(), {});
});

test("after a failed request it records the first vendor, the reason, and the cost", () => {
  const told: unknown[] = [];
  log.notify((...failure) => told.push(failure));
  log.failed("llm", link("one"), DOWN, WASTED);
  log.failed("llm", link("two"), new VendorError("two", "timeout", ""), { ms: 50, tokens: 7 });
  const first = { firstVendor: "one", firstModel: "one-model", firstFault: "unavailable" };
  const failed = { ...first, wastedMs: 350, wastedTokens: 7 };
  log.answered("llm", link("three"));
  log.answered("llm", link("three"));
  const by = { vendor: "three", model: "three-model" };
  assert.deepEqual(log.take(), { llm: { ...by, attempts: 4, ...failed } });
  assert.deepEqual(told[0], ["llm", DOWN]);
  assert.equal(told.length, 2);
  log.failed("llm", link("one"), DOWN, WASTED);
  const nobody = { vendor: "", model: "", attempts: 1, ...first, wastedMs: 300 };
  assert.deepEqual(log.take(), { llm: nobody });
});

test("a hedged request is counted, with its outcome", () => {
  log.hedged("llm", "asked", 0);
  log.hedged("llm", "lost", 20);
  log.hedged("llm", "asked", 0);
  log.hedged("llm", "won", 5);
  log.hedged("llm", "withheld", 0);
  const hedges = { asked: 2, won: 1, withheld: 1, wastedTokens: 25 };
  log.failed("llm", link("one"), DOWN, WASTED);
  assert.deepEqual(log.take().llm?.hedges, hedges);
  log.hedged("llm", "withheld", 0);
  assert.deepEqual(log.take().llm?.hedges, { ...NO_HEDGES, withheld: 1 });
});

test("a vendor that failed in a call is tried last for a minute, or until it answers", () => {
  const clock = new VirtualClock();
  const named = (vendor: string) => ({ vendor, modelId: "m", client: vendor });
  const chain: Chain<string> = chainOf("llm", clock, log, [named("a"), named("b"), named("c")]);
  const order = () => chain.candidates().map(({ vendor }) => vendor);
  const [a, b] = chain.candidates();
  assert.ok(a && b);
  assert.deepEqual([order(), chain.next.vendor, chain.isSingle], [["a", "b", "c"], "a", false]);
  chain.failed(a, DOWN, WASTED);
  assert.deepEqual([order(), chain.next.vendor], [["b", "c", "a"], "b"]);
  chain.failed(b, DOWN, WASTED);
  assert.deepEqual(order(), ["c", "a", "b"]);
  chain.answered(b);
  assert.deepEqual(order(), ["b", "c", "a"]);
  clock.advance(59_999);
  assert.deepEqual(order(), ["b", "c", "a"]);
  clock.advance(1);
  assert.deepEqual(order(), ["a", "b", "c"]);
});

test("of several failures a retryable one is reported, otherwise the last", () => {
  const refused = new VendorError("a", "refused", "a");
  const lost = new VendorError("b", "unauthorized", "b");
  assert.equal(worstOf([refused, DOWN, lost]), DOWN);
  assert.equal(worstOf([refused, lost]), lost);
  assert.deepEqual([worstOf([]).vendor, worstOf([]).fault], ["chain", "unavailable"]);
});

test("a single wasted token is reported", () => {
  log.failed("llm", link("one"), DOWN, { ms: 300, tokens: 1 });
  log.answered("llm", link("two"));
  assert.equal(log.take().llm?.wastedTokens, 1);
});
