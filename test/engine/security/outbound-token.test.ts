import assert from "node:assert/strict";
import { test } from "node:test";
import { OutboundTokens } from "../../../engine/security/outbound-token.js";
import { VirtualClock } from "../../doubles/virtual-clock.js";

const CLAIMS = { callId: "call-1", orgId: "org-1", agentId: "agent-1", vendor: "plivo" };
const SECRET = "s".repeat(32);
/** Five hours. */
const LIFETIME_MS = 18_000_000;

test("a placed call's token identifies its call, until it expires", () => {
  const clock = new VirtualClock();
  const tokens = new OutboundTokens({ secret: SECRET, clock });
  const token = tokens.mint(CLAIMS);
  assert.match(token, /^[\w.-]+$/, "a URL needs no escapes for it");
  assert.deepEqual(tokens.verify(token), CLAIMS);
  clock.advance(LIFETIME_MS - 1);
  assert.deepEqual(tokens.verify(token), CLAIMS);
  clock.advance(1);
  assert.equal(tokens.verify(token), undefined);
});

test("a token that is forged, truncated or of another server is refused", () => {
  const clock = new VirtualClock();
  const tokens = new OutboundTokens({ secret: SECRET, clock });
  const token = tokens.mint(CLAIMS);
  const other = new OutboundTokens({ secret: "t".repeat(32), clock });
  const [content = "", signature = ""] = token.split(".");
  const forged = Buffer.from(JSON.stringify(["call-2", "org-1", "agent-1", 9e15]));
  for (const wrong of [
    "",
    ".",
    content,
    `${content}.`,
    `.${signature}`,
    `${forged.toString("base64url")}.${signature}`,
    token.slice(0, -1),
    "a".repeat(2_000),
    other.mint(CLAIMS),
  ]) {
    assert.equal(tokens.verify(wrong), undefined, wrong);
  }
});
