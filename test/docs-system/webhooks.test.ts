import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { test } from "node:test";
import { webhookSignature } from "../../engine/security/standard-webhooks.js";
import { newWebhookSecret } from "../../engine/webhooks/webhook-secrets.js";

const root = new URL("../../../", import.meta.url);

test("the receiver of the guide takes what is signed, and nothing else", async (context) => {
  const guide = readFileSync(new URL("docs/guides/webhooks.md", root), "utf8");
  const [, program] = /```js\n(import[\s\S]+?)```/.exec(guide) ?? [];
  assert.ok(program);
  const secret = newWebhookSecret();
  const receiver = spawn(process.execPath, ["--input-type=module", "--eval", program], {
    cwd: root,
    env: { ...process.env, PORT: "0", WEBHOOK_SECRET: secret },
    stdio: ["ignore", "pipe", "inherit"],
  });
  context.after(() => receiver.kill());
  const lines = createInterface(receiver.stdout)[Symbol.asyncIterator]();
  const { value: first } = await lines.next();
  const port = /^listening (\d+)$/.exec(String(first))?.[1];
  const body = JSON.stringify({
    type: "call.ended",
    timestamp: "",
    data: { callId: "c", sequence: 2 },
  });
  const timestampSec = Math.floor(Date.now() / 1_000);
  const id = "evt_c_end";
  const signature = webhookSignature([{ secret }], { id, timestampSec, body });
  const post = async (given: string) => {
    const headers = {
      "webhook-id": id,
      "webhook-timestamp": String(timestampSec),
      "webhook-signature": given,
    };
    return (await fetch(`http://127.0.0.1:${port}`, { method: "POST", headers, body })).status;
  };
  assert.equal(await post(signature), 204);
  assert.equal((await lines.next()).value, "call.ended c 2");
  assert.equal(await post(signature.replace("v1,", "v1,AAAA")), 400);
  receiver.kill();
  await once(receiver, "exit");
});
