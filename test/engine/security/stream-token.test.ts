import assert from "node:assert/strict";
import { createHmac, hkdfSync } from "node:crypto";
import { test } from "node:test";
import * as fc from "fast-check";
import { newCallKey, StreamTokens } from "../../../engine/security/stream-token.js";
import { VirtualClock } from "../../doubles/virtual-clock.js";

const CLAIM_LENGTH_MAX = 64;
const CLOCK_SKEW_MAX_MS = 5_000;
const STREAM_TOKEN_LENGTH_MAX = 480;
const STREAM_TOKEN_LIFETIME_MS = 60_000;

const SECRET = "a secret for tests, long enough for anybody";
const CLAIMS = {
  vendor: "twilio",
  orgId: "org-1",
  agentId: "agent-1",
  callerRef: "CA0001",
  callKey: "0123456789a",
  attempt: 0,
};

function newTokens(options: { clock?: VirtualClock; usedMax?: number; secret?: string } = {}) {
  const clock = options.clock ?? new VirtualClock();
  return { clock, tokens: new StreamTokens({ secret: SECRET, ...options, clock }) };
}

test("a token returns the agent and the call that it was made for", () => {
  const { tokens } = newTokens();
  const token = tokens.mint(CLAIMS);
  assert.match(token, /^[0-9a-f]+$/);
  assert.deepEqual(tokens.redeem(token, { agentId: "agent-1", callerRef: "CA0001" }), {
    claims: CLAIMS,
  });
});

test("a token works once", () => {
  const { tokens } = newTokens();
  const token = tokens.mint(CLAIMS);
  assert.ok(tokens.redeem(token).claims);
  assert.equal(tokens.redeem(token).refusal, "used");
  assert.notEqual(tokens.mint(CLAIMS), tokens.mint(CLAIMS));
});

test("a token is valid for one minute", () => {
  const { clock, tokens } = newTokens();
  const early = tokens.mint(CLAIMS);
  const late = tokens.mint(CLAIMS);
  clock.advance(STREAM_TOKEN_LIFETIME_MS - 1);
  assert.ok(tokens.redeem(early).claims);
  clock.advance(1);
  assert.equal(tokens.redeem(late).refusal, "expired");
});

test("a token of a server whose clock is slightly ahead is accepted; one of a clock far ahead is not", () => {
  const base = 1_800_000_000_000;
  const here = newTokens({ clock: new VirtualClock(base) });
  const ahead = newTokens({ clock: new VirtualClock(base + CLOCK_SKEW_MAX_MS) });
  const faraway = newTokens({ clock: new VirtualClock(base + CLOCK_SKEW_MAX_MS + 1) });
  assert.ok(here.tokens.redeem(ahead.tokens.mint(CLAIMS)).claims);
  assert.equal(here.tokens.redeem(faraway.tokens.mint(CLAIMS)).refusal, "fromTheFuture");
});

test("a used token stays used if the clock is set back", () => {
  let epochMs = 1_800_000_000_000;
  const clock = Object.assign(new VirtualClock(0), { epochMs: () => epochMs });
  const { tokens } = newTokens({ clock });
  const token = tokens.mint(CLAIMS);
  assert.ok(tokens.redeem(token).claims);
  clock.advance(STREAM_TOKEN_LIFETIME_MS + CLOCK_SKEW_MAX_MS);
  epochMs -= 1000;
  assert.equal(tokens.redeem(token).refusal, "used");
});

test("a token that is presented for another agent or another call is refused and stays unused", () => {
  const { tokens } = newTokens();
  const token = tokens.mint(CLAIMS);
  assert.equal(tokens.redeem(token, { vendor: "telnyx" }).refusal, "otherVendor");
  assert.equal(tokens.redeem(token, { agentId: "agent-2" }).refusal, "otherAgent");
  assert.equal(tokens.redeem(token, { callerRef: "CA0002" }).refusal, "otherCall");
  assert.ok(tokens.redeem(token, { agentId: "agent-1" }).claims);
});

test("a token that was changed anywhere is refused", () => {
  const { tokens } = newTokens();
  const token = tokens.mint(CLAIMS);
  for (let at = 0; at < token.length; at += 1) {
    const digit = token[at] === "0" ? "1" : "0";
    const forged = token.slice(0, at) + digit + token.slice(at + 1);
    assert.equal(tokens.redeem(forged).refusal, "forged");
  }
  assert.equal(tokens.redeem(token.slice(2)).refusal, "forged");
  assert.equal(tokens.redeem(token.toUpperCase()).refusal, "malformed");
  assert.ok(tokens.redeem(token).claims);
});

test("a token of another secret is refused", () => {
  const other = newTokens({ secret: "another secret for tests, long enough too" });
  assert.equal(newTokens().tokens.redeem(other.tokens.mint(CLAIMS)).refusal, "forged");
  assert.throws(() => newTokens({ secret: "s".repeat(31) }), /at least 32/);
  assert.ok(newTokens({ secret: "s".repeat(32) }));
});

test("no text causes an exception", () => {
  const { tokens } = newTokens();
  const text = fc.oneof(
    fc.string({ maxLength: 600 }),
    fc.stringMatching(/^[0-9a-f]{0,500}$/),
    fc.constantFrom("", "0", "00", "é".repeat(100), "0".repeat(64), "0".repeat(66)),
  );
  fc.assert(
    fc.property(text, (token) => {
      assert.match(tokens.redeem(token).refusal ?? "", /^(?:malformed|forged)$/);
    }),
  );
});

test("a token is never longer than the parameters that vendors pass on", () => {
  const { tokens } = newTokens();
  const longest = "i".repeat(CLAIM_LENGTH_MAX);
  const uuids = {
    ...CLAIMS,
    vendor: "signalwire",
    orgId: "u".repeat(36),
    agentId: "u".repeat(36),
    callerRef: longest,
  };
  assert.ok(tokens.mint(uuids).length <= STREAM_TOKEN_LENGTH_MAX);
  assert.throws(() => tokens.mint({ ...CLAIMS, callerRef: `${longest}x` }), RangeError);
  assert.throws(() => tokens.mint({ ...CLAIMS, callerRef: "é" }), RangeError);
  assert.throws(
    () => tokens.mint({ ...CLAIMS, orgId: longest, agentId: longest, callerRef: longest }),
    RangeError,
  );
});

test("used tokens are forgotten after a time, and new ones are refused if too many are remembered", () => {
  const { clock, tokens } = newTokens({ usedMax: 3 });
  for (let n = 0; n < 3; n += 1) assert.ok(tokens.redeem(tokens.mint(CLAIMS)).claims);
  assert.equal(tokens.redeem(tokens.mint(CLAIMS)).refusal, "overloaded");
  clock.advance(3 * STREAM_TOKEN_LIFETIME_MS);
  assert.ok(tokens.redeem(tokens.mint(CLAIMS)).claims);
  assert.equal(tokens.usedCount, 1);
});

test("a used token is remembered for twice its longest lifetime", () => {
  const { clock, tokens } = newTokens({ usedMax: 1 });
  assert.ok(tokens.redeem(tokens.mint(CLAIMS)).claims);
  clock.advance(129_999);
  assert.equal(tokens.redeem(tokens.mint(CLAIMS)).refusal, "overloaded");
  clock.advance(1);
  assert.ok(tokens.redeem(tokens.mint(CLAIMS)).claims);
});

test("a token of a webhook without a call id is valid for a stream with one", () => {
  const tokens = new StreamTokens({ secret: SECRET, clock: new VirtualClock() });
  const claims = { ...CLAIMS, callerRef: "" };
  const token = tokens.mint(claims);
  assert.deepEqual(tokens.redeem(token, { callerRef: "CA0002" }), { claims });
});

test("a token of another release is accepted: its claims, its expiry and 12 random bytes, signed", () => {
  const { clock, tokens } = newTokens();
  const token = tokens.mint(CLAIMS);
  const content = Buffer.from(token.slice(0, -64), "hex");
  const [nonce, ...claims] = JSON.parse(content.toString("utf8")).reverse();
  assert.match(nonce, /^[\w-]{16}$/);
  const expiresAtMs = clock.epochMs() + STREAM_TOKEN_LIFETIME_MS;
  assert.deepEqual(claims.reverse(), [...Object.values(CLAIMS), expiresAtMs]);
  const label = "parley: telephony stream token, version 3";
  const key = Buffer.from(hkdfSync("sha256", SECRET, "", label, 32));
  assert.equal(token.slice(-64), createHmac("sha256", key).update(content).digest("hex"));
  assert.match(newCallKey(), /^[\w-]{11}$/);
});

test("a token has at most 480 characters, when it is minted and when it is read", () => {
  const { tokens } = newTokens();
  let spare = (STREAM_TOKEN_LENGTH_MAX - tokens.mint(CLAIMS).length) / 2;
  const longer = (id: string) => {
    const added = Math.min(spare, CLAIM_LENGTH_MAX - id.length);
    spare -= added;
    return id + "x".repeat(added);
  };
  const { orgId, agentId, callerRef, callKey } = CLAIMS;
  const claims = { ...CLAIMS, orgId: longer(orgId), agentId: longer(agentId) };
  const longest = { ...claims, callerRef: longer(callerRef) };
  const token = tokens.mint(longest);
  assert.equal(token.length, STREAM_TOKEN_LENGTH_MAX);
  assert.deepEqual(tokens.redeem(token), { claims: longest });
  assert.throws(() => tokens.mint({ ...longest, callKey: `${callKey}x` }), /too long/);
  const refusals = [64, 66, STREAM_TOKEN_LENGTH_MAX, STREAM_TOKEN_LENGTH_MAX + 2].map(
    (length) => tokens.redeem("0".repeat(length)).refusal,
  );
  assert.deepEqual(refusals, ["malformed", "forged", "forged", "malformed"]);
});
