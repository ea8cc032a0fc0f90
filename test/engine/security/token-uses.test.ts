import assert from "node:assert/strict";
import { test } from "node:test";
import type { ClientToken } from "../../../engine/security/client-token.js";
import { TokenUses } from "../../../engine/security/token-uses.js";
import { VirtualClock } from "../../doubles/virtual-clock.js";

function token(nonce: string, expiresAtMs: number): ClientToken {
  const claims = { orgId: "org", agentId: "agent", callMaxSec: undefined, origin: undefined };
  return { ...claims, variables: {}, nonce, expiresAtMs };
}

test("a token opens one conversation and continues only that one", () => {
  const clock = new VirtualClock();
  const uses = new TokenUses(clock);
  const mine = token("a", clock.epochMs() + 60_000);
  assert.equal(uses.take(mine, undefined), undefined);
  assert.match(uses.take(mine, undefined) ?? "", /used/, "while the first is being opened");
  uses.opened(mine, "key-1");
  assert.match(uses.take(mine, undefined) ?? "", /used/);
  assert.match(uses.take(mine, "key-2") ?? "", /used/);
  assert.equal(uses.take(mine, "key-1"), undefined);
  uses.release(mine);
  assert.match(uses.take(mine, undefined) ?? "", /used/, "its conversation stays open");
});

test("a token stays unused if its call could not be opened", () => {
  const clock = new VirtualClock();
  const uses = new TokenUses(clock);
  const mine = token("a", clock.epochMs() + 60_000);
  assert.equal(uses.take(mine, undefined), undefined);
  uses.release(mine);
  assert.equal(uses.take(mine, undefined), undefined);
});

test("an unused token has no stored state", () => {
  const clock = new VirtualClock();
  const uses = new TokenUses(clock);
  const mine = token("a", clock.epochMs() + 60_000);
  uses.opened(mine, "key-1");
  assert.equal(uses.take(mine, undefined), undefined);
});

test("if memory is full of valid tokens, new ones are refused; expired ones are removed", () => {
  const clock = new VirtualClock();
  const uses = new TokenUses(clock, 2);
  const expiresAtMs = clock.epochMs() + 60_000;
  for (const nonce of ["a", "b"])
    assert.equal(uses.take(token(nonce, expiresAtMs), "k"), undefined);
  assert.match(uses.take(token("c", expiresAtMs), undefined) ?? "", /too many/);
  clock.advance(60_000);
  assert.equal(uses.take(token("d", expiresAtMs + 1), undefined), undefined);
});
