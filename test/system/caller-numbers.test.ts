import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import { after, before, test } from "node:test";
import { inspect } from "node:util";
import * as v from "valibot";
import { placedCallKey } from "../../engine/calls/continuations.js";
import { StreamTokens } from "../../engine/security/stream-token.js";
import { SystemClock } from "../../engine/time/clock.js";
import { RecordingLogger } from "../doubles/recording-logger.js";
import { VendorCall } from "./phone-vendor-call.js";
import { VENDOR_STREAMS } from "./phone-vendor-streams.js";
import { closeServer, heard, PacerWatch, ring, streamUrl } from "./telephone-stand.js";
import { JWT_SECRET } from "./test-customers.js";
import { type Customer, TestServer } from "./test-server.js";

const FROM = "+493011122233";
const TO = "+493044455566";
const NAME = "Zoë Quagga";

const clock = new PacerWatch();
const log = new RecordingLogger();
let server: TestServer;
before(async () => {
  server = await TestServer.start({
    clock,
    log,
    environment: { ALLOW_PRIVATE_PROVIDERS: "true" },
  });
});
after(() => closeServer(server, clock));

const Page = v.object({
  items: v.array(v.object({ _id: v.string(), metadata: v.record(v.string(), v.unknown()) })),
  total: v.number(),
});
const Count = v.object({ count: v.number() });

async function get(customer: Customer, path: string): Promise<unknown> {
  const headers = { "x-api-key": customer.apiKey };
  const response = await fetch(`${server.url}/api/dashboard/calls${path}`, { headers });
  assert.equal(response.status, 200);
  return response.json();
}

test("a call whose caller number is no longer known is still a telephone call", async () => {
  const tokens = new StreamTokens({ secret: JWT_SECRET, clock: new SystemClock() });
  for (const [callKey, direction] of [
    ["lost", "inbound"],
    [placedCallKey("lost"), "outbound"],
  ] as const) {
    const customer = await server.customer();
    const agent = await server.agent(customer, { persona: { greeting: "Hello there." } });
    const claims = { vendor: "twilio", orgId: customer.tenant.organization.id, agentId: agent.id };
    // No webhook has stored anything under this key.
    const token = tokens.mint({ ...claims, callerRef: "CA1", callKey, attempt: 0 });
    const stream = VENDOR_STREAMS["Twilio in µ-law"];
    assert.ok(stream);
    const phone = await VendorCall.connect(streamUrl(server, "twilio"), stream);
    phone.send(stream.start(token));
    await phone.said(1);
    await phone.end();
    const call = await server.endedCall(customer);
    assert.deepEqual(
      [call.metadata["direction"], call.metadata["phoneVendor"], call.metadata["phoneCallId"]],
      [direction, "twilio", "CA1"],
    );
  }
});

test("a telephone call's record and its tools get both numbers; the log does not", async (context) => {
  const asked: Record<string, unknown>[] = [];
  const service = createServer((request, response) => {
    asked.push(request.headers);
    response.writeHead(200, { "content-type": "text/plain" }).end("The table is booked.");
  });
  service.listen(0, "127.0.0.1");
  await once(service, "listening");
  context.after(() => service.close());
  const address = service.address();
  assert.ok(typeof address === "object" && address !== null);
  const customer = await server.customer();
  const tool = {
    type: "http",
    description: "Books a table.",
    parameters: { type: "object", properties: {} },
    url: `http://127.0.0.1:${address.port}/`,
    method: "POST",
    timeoutMs: 5_000,
    speak: true,
  } as const;
  await server.agent(customer, {
    persona: { greeting: "Hello there." },
    tools: [
      { ...tool, name: "book_table", sendCallInfo: true },
      { ...tool, name: "count_chairs" },
    ],
  });
  const callSid = `CA${"7".repeat(32)}`;
  const fields = { CallerName: NAME };
  const caller = await ring(server, customer, { from: FROM, to: TO, callSid, fields });
  await heard(caller, "Hello there.");
  await caller.say("please book table");
  await heard(caller, "The table is booked.");
  await caller.say("please count chairs");
  while (asked.length < 2) await caller.until(() => true);
  await caller.hangUp();
  const call = await server.endedCall(customer);
  const { direction, from, to, callerName, phoneVendor, phoneCallId } = call.metadata;
  assert.deepEqual(
    { direction, from, to, callerName, phoneVendor, phoneCallId },
    {
      direction: "inbound",
      from: FROM,
      to: TO,
      callerName: NAME,
      phoneVendor: "twilio",
      phoneCallId: callSid,
    },
  );
  assert.equal(
    call.metadata["apiKeyId"],
    customer.apiKeyId,
    "its usage counts at the webhook's key",
  );
  assert.equal(asked[0]?.["x-parley-from"], FROM);
  assert.equal(asked[0]?.["x-parley-to"], TO);
  assert.equal(asked[0]?.["x-parley-direction"], "inbound");
  assert.equal(asked[0]?.["x-parley-caller-name"], encodeURIComponent(NAME));
  assert.equal(
    asked[1]?.["x-parley-from"],
    undefined,
    "a tool that did not request numbers gets none",
  );
  for (const query of [
    `?from=${encodeURIComponent(FROM)}`,
    `?from=${FROM}`,
    `?to=%2B${TO.slice(1)}`,
  ]) {
    const page = v.parse(Page, await get(customer, query));
    assert.deepEqual([page.total, page.items[0]?._id], [1, call.id], query);
    assert.equal(page.items[0]?.metadata["from"], FROM);
    const { count } = v.parse(Count, await get(customer, `/count${query}`));
    assert.equal(count, 1);
  }
  const directions = ["inbound", "outbound", "web"].map(async (each) =>
    v.parse(Count, await get(customer, `/count?direction=${each}`)),
  );
  assert.deepEqual(
    (await Promise.all(directions)).map(({ count }) => count),
    [1, 0, 0],
  );
  const other = v.parse(Count, await get(customer, `/count?from=${encodeURIComponent(TO)}`));
  assert.equal(other.count, 0);

  const lines = log.lines.map((line) => inspect(line, { depth: 20, showHidden: true }));
  for (const secret of [FROM.slice(1), TO.slice(1), "Quagga"]) {
    assert.deepEqual(
      lines.filter((line) => line.includes(secret)),
      [],
    );
  }
});
