import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { WebSocket } from "ws";
import { SIGNING_KEYS } from "../../bench/attack/clients/webhook-signers.js";
import { closeOf } from "./events.js";
import { OWN_VENDORS_ALLOWED, OwnVendors } from "./own-vendors.js";
import { VendorCaller } from "./phone-vendor-caller.js";
import { VENDOR_STREAMS } from "./phone-vendor-streams.js";
import { closeServer, heard, PacerWatch, ring, streamUrl, webhookUrl } from "./telephone-stand.js";
import { type Customer, TestServer } from "./test-server.js";

const TRANSFER_TO = "+15550003333";

const clock = new PacerWatch();
let server: TestServer;
before(async () => {
  server = await TestServer.start({ clock, environment: OWN_VENDORS_ALLOWED });
});
after(() => closeServer(server, clock));

async function statusOf(full: TestServer, path: string): Promise<string> {
  const response = await fetch(`${full.url}${path}`);
  const { status } = JSON.parse(await response.text());
  return `${response.status} ${status}`;
}

async function assertTalks(customer: Customer): Promise<void> {
  const caller = await ring(server, customer);
  await caller.say("say thank you");
  await heard(caller, "thank you");
  await caller.hangUp();
}

test("a server at its maximum of calls tells the next caller so, and stays healthy", async () => {
  const watch = new PacerWatch();
  const full = await TestServer.start({ clock: watch, environment: { CALLS_MAX: "1" } });
  const customer = await full.customer();
  await full.agent(customer, { persona: { greeting: "Hello there." } });
  assert.equal(await statusOf(full, "/api/ready"), "200 ready");
  const first = await ring(full, customer);
  await heard(first, "Hello there.");
  await assert.rejects(
    ring(full, customer),
    /refused: "This call cannot be taken: no further calls are taken at the moment, please try again later\. Goodbye\."/,
  );
  const second = await closeOf(full.dial(customer));
  assert.equal(second.code, 4029);
  assert.match(second.error ?? "", /has reached its call limit/);
  assert.equal(await statusOf(full, "/api/ready"), "503 overloaded");
  assert.match(await statusOf(full, "/api/health"), /^200 /);
  await first.say("say still here");
  await heard(first, "still here");
  await first.hangUp();
  await full.endedCall(customer);
  await full.settled();
  assert.equal(await statusOf(full, "/api/ready"), "200 ready");
  const third = await ring(full, customer);
  await heard(third, "Hello there.");
  await third.hangUp();
  await full.endedCalls(customer, 2);
  await closeServer(full, watch);
});

test("a stream whose webhook was answered before the server was full is closed with 4029", async () => {
  const full = await TestServer.start({ environment: { CALLS_MAX: "1" } });
  const customer = await full.customer();
  await full.agent(customer, { persona: { greeting: "Hello there." } });
  const response = await fetch(webhookUrl(full, customer), { method: "POST" });
  const token = /value="([0-9a-f]+)"/.exec(await response.text())?.[1] ?? "";
  const first = await ring(full, customer);
  await heard(first, "Hello there.");
  const socket = new WebSocket(streamUrl(full));
  const closed = new Promise<number>((resolve) => {
    socket.once("close", resolve);
  });
  socket.once("open", () => socket.send(VENDOR_STREAMS["Twilio in µ-law"]?.start(token) ?? ""));
  assert.equal(await closed, 4029);
  await first.hangUp();
  await full.close();
});

test("a full server takes back a caller whose transfer has failed, and no new one", async () => {
  const full = await TestServer.start({
    environment: { CALLS_MAX: "1", SIGNALWIRE_SIGNING_KEY: SIGNING_KEYS.SIGNALWIRE_SIGNING_KEY },
  });
  const customer = await full.customer();
  await full.tenancy.dialTargets.allow(customer.email, TRANSFER_TO);
  const tools = [{ type: "transfer", to: TRANSFER_TO } as const];
  await full.agent(customer, { persona: { greeting: "Hello there." }, tools });
  const stream = VENDOR_STREAMS["SignalWire in 16-bit samples"];
  assert.ok(stream);
  const { vendor } = stream;
  const caller = new VendorCaller(stream, streamUrl(full, vendor));
  const call = await caller.ring(webhookUrl(full, customer, { vendor }));
  assert.equal(await call.said(1), "Hello there.");
  call.play();
  call.say("transfer me");
  assert.match(await call.said(2), /transfer you/);
  call.play();
  await call.closed;
  const dial = await caller.handedOn();
  await full.endedCall(customer);
  await full.settled();
  const other = await full.customer();
  await full.agent(other, { persona: { greeting: "Hello there." } });
  const second = await ring(full, other);
  await heard(second, "Hello there.");
  const again = await caller.dialed(dial, "busy");
  assert.ok(again, "the caller is not lost");
  assert.match(await again.said(2), /the line is busy/);
  again.play();
  await assert.rejects(ring(full, other), /refused/);
  again.drop();
  await second.hangUp();
  await full.close();
});

test("speech that the audio pool cannot decode affects only its own sentence, and calls continue", async (context) => {
  const own = await OwnVendors.of(server, context, {
    faults: { openaiSpeech: { fault: "garbage" } },
  });
  const other = await server.customer();
  await server.agent(other);
  const spoilt = await ring(server, own.customer);
  await spoilt.say("say this is spoilt");
  await own.changes.until("the fault", () =>
    own.sandbox.journal.find(({ kind }) => kind === "fault"),
  );
  await assertTalks(other);
  own.faults.openaiSpeech = {};
  await spoilt.say("say all is well");
  await heard(spoilt, "all is well");
  await spoilt.hangUp();
  assert.equal((await own.endedCall()).status, "completed");
  await server.endedCall(other);
});
