import assert from "node:assert/strict";
import { randomInt } from "node:crypto";
import { after, before, test } from "node:test";
import { SIGNERS, SIGNING_KEYS } from "../../bench/attack/clients/webhook-signers.js";
import { RecordingLogger } from "../doubles/recording-logger.js";
import { VendorCall } from "./phone-vendor-call.js";
import { VENDOR_DOCUMENTS } from "./phone-vendor-documents.js";
import { UNSUPPORTED_STREAMS } from "./phone-vendor-streams.js";
import { webhookUrl } from "./telephone-stand.js";
import { TestServer } from "./test-server.js";

const log = new RecordingLogger();
let server: TestServer;
before(async () => {
  server = await TestServer.start({ log, environment: SIGNING_KEYS });
});
after(() => server.close());

for (const [title, stream] of Object.entries(UNSUPPORTED_STREAMS)) {
  test(`${title}: the call ends immediately, and its caller, its record and the log get the reason`, async () => {
    log.lines.length = 0;
    const customer = await server.customer();
    await server.agent(customer);
    const { vendor } = stream;
    const documents = VENDOR_DOCUMENTS[vendor];
    // The number differs for each call, so that no two signatures are equal.
    const from = `1555${randomInt(1e6, 1e7)}`;
    const post = async (url: string, body: string) => {
      const type = { "content-type": "application/x-www-form-urlencoded" };
      const headers = { ...type, ...SIGNERS[vendor]?.sign(url, body) };
      return (await fetch(url, { method: "POST", headers, body })).text();
    };
    const ringing = documents?.bodyOf("ringing", from) ?? "";
    const step = documents?.read(await post(webhookUrl(server, customer, { vendor }), ringing));
    assert.ok(step?.url !== undefined && step.next !== undefined);
    const call = await VendorCall.connect(step.url, stream);
    call.send(stream.start(step.parameters["token"] ?? ""));
    assert.equal(await call.closed, 1003);
    const { status, metadata } = await server.endedCall(customer);
    assert.deepEqual([status, metadata["endReason"]], ["failed", "unsupportedAudio"]);
    const words = /two channels/.test(title) ? "2 channels" : title.replace(/^.* in (an? )?/, "");
    const named = /future/.test(title) ? "of-the-future" : words;
    assert.ok(String(metadata["endMessage"]).includes(named), String(metadata["endMessage"]));
    const [line] = log.ofLevel("warn");
    assert.match(line?.message ?? "", /audio format is not supported/);
    assert.ok(JSON.stringify(line).includes(named), JSON.stringify(line));
    const ended = documents?.bodyOf("streamEnded", from) ?? "";
    const document = await post(step.next, ended);
    assert.match(document, /<Say>[^<]*format is not supported[^<]*<\/Say><Hangup\/>/);
  });
}
