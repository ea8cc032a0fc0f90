import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";
import {
  asVendorError,
  type Chain,
  type ChainLink,
  type ChainWatch,
  worstOf,
} from "../../../../engine/vendors/chain/chain.js";
import { VendorError } from "../../../../engine/vendors/contracts.js";
import { VirtualClock } from "../../../doubles/virtual-clock.js";
import { chainOf } from "./chain-of.js";

const DOWN = new VendorError("one", "unavailable", "one: down");
const WASTED = { ms: 300, tokens: 7 };

let clock: VirtualClock;
let told: unknown[];
const watch: ChainWatch = {
  answered: (category, { vendor }) => told.push(["answered", category, vendor]),
  failed: (category, { vendor }, error, wasted) =>
    told.push(["failed", category, vendor, error, wasted]),
  hedged: (...all) => told.push(["hedged", ...all]),
};

beforeEach(() => {
  clock = new VirtualClock();
  told = [];
});

function named(...names: readonly [string, ...string[]]): Chain<undefined> {
  const [first, ...others] = names.map((vendor) => ({ vendor, modelId: "m", client: undefined }));
  assert.ok(first);
  return chainOf("llm", clock, watch, [first, ...others]);
}

function order(chain: Chain<undefined>): string {
  return chain
    .candidates()
    .map(({ vendor }) => vendor)
    .join(" ");
}

function linkOf(chain: Chain<undefined>, vendor: string): ChainLink<undefined> {
  const link = chain.candidates().find((each) => each.vendor === vendor);
  assert.ok(link);
  return link;
}

test("a vendor that failed in a call is tried last for a minute, or until it has answered", () => {
  const chain = named("one", "two", "three");
  assert.equal(order(chain), "one two three");
  chain.failed(chain.first, DOWN, WASTED);
  assert.deepEqual([order(chain), chain.next.vendor], ["two three one", "two"]);
  assert.deepEqual([chain.trusts(chain.first), chain.trusts(chain.next)], [false, true]);
  clock.advance(59_999);
  assert.equal(order(chain), "two three one");
  clock.advance(1);
  assert.equal(order(chain), "one two three");
  chain.failed(chain.first, DOWN, WASTED);
  chain.answered(chain.first);
  assert.equal(order(chain), "one two three");
});

test("a vendor that is known to be down comes after the others, whichever process has found that", () => {
  const chain = named("one", "two");
  chain.first.breaker.failed(new VendorError("one", "unauthorized", "no"));
  assert.equal(order(chain), "two one");
  clock.advance(5_000);
  chain.first.breaker.onRequest();
  chain.answered(chain.first);
  assert.equal(chain.first.breaker.phase, "closed");
  assert.equal(order(chain), "one two");
});

test("if all have failed they are tried in their order", () => {
  const chain = named("one", "two");
  chain.failed(linkOf(chain, "two"), DOWN, WASTED);
  chain.failed(linkOf(chain, "one"), DOWN, WASTED);
  assert.equal(order(chain), "one two");
  assert.equal(chain.next.vendor, "one");
});

test("answers, failures and hedges are reported with their category", () => {
  const chain = named("one", "two");
  chain.failed(chain.first, DOWN, WASTED);
  chain.answered(chain.next);
  chain.hedged("won", 12);
  assert.deepEqual(told, [
    ["failed", "llm", "one", DOWN, WASTED],
    ["answered", "llm", "two"],
    ["hedged", "llm", "won", 12],
  ]);
});

test("the failure of the only vendor counts for its breaker, and is not reported", () => {
  const chain = named("one");
  for (let n = 0; n < 3; n += 1) chain.failed(chain.first, DOWN, WASTED);
  assert.deepEqual([chain.isSingle, chain.first.breaker.phase, told], [true, "open", []]);
  assert.equal(order(chain), "one");
  assert.equal(named("one", "two").isSingle, false);
});

test("of several failures a retryable one is reported, otherwise the last", () => {
  const [refused, unknown] = [
    new VendorError("one", "refused", "no"),
    new VendorError("two", "notFound", "no"),
  ];
  assert.equal(worstOf([refused, DOWN, unknown]), DOWN);
  assert.equal(worstOf([refused, unknown]), unknown);
  const nobody = worstOf([]);
  assert.deepEqual([nobody.vendor, nobody.fault], ["chain", "unavailable"]);
});

test("a client that throws anything else has given a bad answer", () => {
  assert.equal(asVendorError("acme", DOWN), DOWN);
  const cause = new Error("a bug");
  const error = asVendorError("acme", cause);
  assert.deepEqual([error.vendor, error.fault, error.cause], ["acme", "badAnswer", cause]);
  assert.equal(error.message, "acme: its client broke off");
});
