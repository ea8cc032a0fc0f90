import assert from "node:assert/strict";
import { test } from "node:test";
import { VendorCall } from "./phone-vendor-call.js";
import { VENDOR_STREAMS } from "./phone-vendor-streams.js";
import { streamUrl, webhookUrl } from "./telephone-stand.js";
import { TestServer } from "./test-server.js";

/**
 * Asterisk may request frames of this size: then a second of speech is megabytes, and the kernel's buffers fill at
 * once.
 */
const FRAME_BYTES = 65_000;

test("a vendor that never reads its socket ends its call as too slow; the other calls continue", async (context) => {
  const server = await TestServer.start();
  context.after(() => server.close());
  const stream = VENDOR_STREAMS["Asterisk in 16-bit samples"];
  assert.ok(stream);
  const dial = async (frameBytes: number) => {
    const customer = await server.customer();
    await server.agent(customer, { persona: { greeting: "Hello there." } });
    const url = webhookUrl(server, customer, { vendor: stream.vendor });
    const token = await (await fetch(url, { method: "POST" })).text();
    const call = await VendorCall.connect(streamUrl(server, stream.vendor), stream);
    const start = stream.start(token);
    call.send(start.replace('"optimal_frame_size":320', `"optimal_frame_size":${frameBytes}`));
    return { customer, call };
  };
  const deaf = await dial(FRAME_BYTES);
  const other = await dial(320);
  assert.equal(await other.call.said(1), "Hello there.");
  other.call.play();
  deaf.call.stopReading();
  deaf.call.say("count to 2000");
  const { status, metadata } = await server.endedCall(deaf.customer);
  assert.deepEqual([status, metadata["endReason"]], ["failed", "callerTooSlow"]);
  other.call.say("say thank you");
  assert.equal(await other.call.said(2), "thank you");
  await other.call.end();
  assert.equal((await server.endedCall(other.customer)).status, "completed");
  deaf.call.drop();
});
