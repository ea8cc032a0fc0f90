import assert from "node:assert/strict";
import { test } from "node:test";
import { WorkerStreamTokens } from "../../../engine/cluster/worker-ports.js";
import { StreamTokens } from "../../../engine/security/stream-token.js";
import { newCluster, ORG, settled } from "./cluster-in-one-process.js";

const CLAIMS = {
  vendor: "twilio",
  orgId: ORG,
  agentId: "agent",
  callerRef: "CA1",
  callKey: "key",
  attempt: 0,
};
const TOKEN_MS = 60_000;

test("a stream's token that one process has taken, no other takes", async () => {
  const { clock, join } = newCluster();
  const signed = new StreamTokens({ secret: "s".repeat(32), clock });
  const [one, other] = [1, 2].map((name) => new WorkerStreamTokens(signed, join(name)));
  const token = one?.mint(CLAIMS) ?? "";
  assert.deepEqual(await other?.redeem(token, { agentId: "another" }), { refusal: "otherAgent" });
  assert.deepEqual(await other?.redeem("text"), { refusal: "malformed" });
  assert.deepEqual(await other?.redeem(token), { claims: CLAIMS });
  assert.deepEqual(await one?.redeem(token), { refusal: "used" });
});

test("whatever is good for one use is known to the whole server", async () => {
  const { clock, join } = newCluster();
  const [one, other] = [join(1), join(2)];
  const webhook = { id: "signature", isUnique: false };
  assert.equal(await one.request("answerWebhook", { ...webhook, answer: "first" }), "first");
  assert.equal(await other.request("answerWebhook", { ...webhook, answer: "second" }), "first");

  const token = { nonce: "nonce", expiresAtMs: clock.epochMs() + TOKEN_MS };
  const take = (historyKey?: string) => other.request("takeToken", { ...token, historyKey });
  assert.equal(await one.request("takeToken", { ...token, historyKey: undefined }), undefined);
  assert.match((await take()) ?? "", /used for another call/);
  one.notify("releaseToken", token);
  await settled();
  assert.equal(await take(), undefined);
  other.notify("tokenOpened", { ...token, historyKey: "key" });
  await settled();
  assert.equal(await take("key"), undefined);
  assert.match((await take("another")) ?? "", /used for another call/);

  const uuid = await one.request("mintUuid", CLAIMS);
  assert.deepEqual(await other.request("redeemUuid", uuid), CLAIMS);
  assert.equal(await one.request("redeemUuid", uuid), undefined);
});
