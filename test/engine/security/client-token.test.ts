import assert from "node:assert/strict";
import { test } from "node:test";
import { ClientTokens } from "../../../engine/security/client-token.js";
import { OutboundTokens } from "../../../engine/security/outbound-token.js";
import { VirtualClock } from "../../doubles/virtual-clock.js";

const SECRET = "s".repeat(32);
const CLAIMS = {
  orgId: "org-1",
  agentId: "agent-1",
  callMaxSec: 60,
  origin: "https://shop.example.com",
  variables: { name: "Ädä" },
};
const BARE = { ...CLAIMS, callMaxSec: undefined, origin: undefined, variables: {} };

function issued(tokens: ClientTokens, claims: typeof CLAIMS | typeof BARE, ttlSec = 60): string {
  const made = tokens.issue(claims, ttlSec);
  assert.ok(made);
  return made.token;
}

test("a token contains its permissions, until it expires", () => {
  const clock = new VirtualClock();
  const tokens = new ClientTokens({ secret: SECRET, clock });
  for (const claims of [CLAIMS, BARE]) {
    const token = issued(tokens, claims);
    assert.match(token, /^[\w.-]+$/, "a URL needs no escapes for it");
    const read = tokens.read(token);
    assert.ok(typeof read === "object");
    const { nonce, expiresAtMs, ...found } = read;
    assert.deepEqual(found, claims);
    assert.equal(expiresAtMs, clock.epochMs() + 60_000);
    assert.equal(Buffer.from(nonce, "base64url").length, 12);
  }
  const token = issued(tokens, CLAIMS);
  clock.advance(59_999);
  assert.ok(typeof tokens.read(token) === "object");
  clock.advance(1);
  assert.equal(tokens.read(token), "expired");
});

test("a text that is forged, truncated, changed, or a token of another kind is refused", () => {
  const clock = new VirtualClock();
  const tokens = new ClientTokens({ secret: SECRET, clock });
  const other = new ClientTokens({ secret: "t".repeat(32), clock });
  const placed = new OutboundTokens({ secret: SECRET, clock });
  const [content = "", signature = ""] = issued(tokens, CLAIMS).split(".");
  const changed = Buffer.from(content, "base64url").toString().replace("agent-1", "agent-2");
  for (const wrong of [
    "",
    ".",
    content,
    `.${signature}`,
    `${Buffer.from(changed).toString("base64url")}.${signature}`,
    `${content}.${signature.slice(1)}`,
    "x".repeat(3_000),
    issued(other, CLAIMS),
    placed.mint({ callId: "call-1", orgId: "org-1", agentId: "agent-1", vendor: "plivo" }),
  ]) {
    assert.equal(tokens.read(wrong), "wrong", wrong);
  }
});

test("no token is issued for claims that are too long for a URL", () => {
  const tokens = new ClientTokens({ secret: SECRET, clock: new VirtualClock() });
  const variables = { story: "x".repeat(2_000) };
  assert.equal(tokens.issue({ ...CLAIMS, variables }, 60), undefined);
});

test("a token has at most 2,048 characters", () => {
  const tokens = new ClientTokens({ secret: SECRET, clock: new VirtualClock() });
  const lengths: number[] = [];
  for (let length = 1_100; lengths.length < 500; length += 1) {
    const made = tokens.issue({ ...CLAIMS, variables: { story: "x".repeat(length) } }, 60);
    if (made === undefined) break;
    lengths.push(made.token.length);
  }
  assert.equal(lengths.at(-1), 2_048);
});
