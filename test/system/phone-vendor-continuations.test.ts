import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import {
  SIGNERS,
  SIGNING_KEYS,
  type SignedHeaders,
} from "../../bench/attack/clients/webhook-signers.js";
import { AGENT_HUNG_UP } from "../../engine/conversation/call-end.js";
import { VendorCaller } from "./phone-vendor-caller.js";
import { VENDOR_DOCUMENTS } from "./phone-vendor-documents.js";
import { VENDOR_STREAMS } from "./phone-vendor-streams.js";
import { closeServer, PacerWatch, streamUrl, webhookUrl } from "./telephone-stand.js";
import { type Customer, TestServer } from "./test-server.js";

const INTERRUPTED = "I am sorry, the line was interrupted. Where were we?";

const clock = new PacerWatch();
let server: TestServer;
before(async () => {
  server = await TestServer.start({ clock, environment: SIGNING_KEYS });
});
after(() => closeServer(server, clock));

async function customerWithAgent(): Promise<Customer> {
  const customer = await server.customer();
  await server.agent(customer, { persona: { greeting: "Hello there." } });
  return customer;
}

const TITLES = [
  "Plivo in µ-law",
  "Telnyx in A-law",
  "Jambonz in 16-bit samples",
  "Vonage in 16-bit samples",
  "Asterisk in A-law",
];

describe("a vendor requests the next step after its stream", { concurrency: true }, () => {
  for (const title of TITLES) {
    const stream = VENDOR_STREAMS[title];
    assert.ok(stream);
    const { vendor } = stream;
    const query = vendor === "asterisk" ? { vendor, continue: "yes" } : { vendor };

    test(`${title}: a caller whose stream breaks continues, and one who has hung up is released`, async () => {
      const customer = await customerWithAgent();
      const caller = new VendorCaller(stream, streamUrl(server, vendor));
      const call = await caller.ring(webhookUrl(server, customer, query));
      assert.equal(await call.said(1), "Hello there.");
      call.play();
      call.say("say thank you");
      assert.equal(await call.said(2), "thank you");
      call.play();
      call.drop();
      const again = await caller.goOn();
      assert.ok(again);
      assert.equal(await again.said(2), INTERRUPTED);
      again.play();
      again.drop();
      assert.equal(await caller.goOn("callerGone"), undefined);
      await server.settled();
      const [first, second, ...others] = await server.calls(customer);
      assert.deepEqual(others, []);
      assert.equal(first?.metadata["continuedBy"], second?.id);
      assert.equal(second?.metadata["continues"], first?.id);
    });

    test(`${title}: a call that the agent has ended is hung up`, async () => {
      const customer = await customerWithAgent();
      const caller = new VendorCaller(stream, streamUrl(server, vendor));
      const call = await caller.ring(webhookUrl(server, customer, query));
      assert.equal(await call.said(1), "Hello there.");
      call.play();
      const [live] = server.parley.calls.slots.callsOf(customer.tenant.organization.id);
      server.parley.calls.liveCalls.find(live ?? "")?.end(AGENT_HUNG_UP);
      await call.closed;
      assert.equal(await caller.goOn(), undefined);
    });
  }
});

test("a request is answered only if its vendor has signed it, and the same way when it is repeated", async () => {
  const customer = await customerWithAgent();
  for (const [vendor, documents] of Object.entries(VENDOR_DOCUMENTS)) {
    const sign = SIGNERS[vendor]?.sign;
    if (sign === undefined) continue;
    const ask = (url: string, body: string, headers: SignedHeaders) =>
      fetch(url, { method: "POST", body, headers });
    const ringing = documents.bodyOf("ringing", "15550003333") ?? "";
    const url = webhookUrl(server, customer, { vendor });
    const rung = await ask(url, ringing, sign(url, ringing));
    const next = documents.read(await rung.text())?.next ?? "";
    const body = documents.bodyOf("streamEnded", "15550003333") ?? "";
    assert.equal((await ask(next, body, {})).status, 403, vendor);
    assert.equal((await ask(next, body, sign(url, `${body} `))).status, 403, vendor);
    const signed = sign(next, body);
    const [first, again] = [await ask(next, body, signed), await ask(next, body, signed)];
    const document = await first.text();
    assert.equal(await again.text(), document, vendor);
    const step = documents.read(document);
    assert.ok(step?.next !== undefined && step.next !== next, vendor);
    const later = await ask(step.next, body, sign(step.next, body));
    assert.notEqual(
      await later.text(),
      document,
      `${vendor} sends the same request about another stream`,
    );
  }
});
