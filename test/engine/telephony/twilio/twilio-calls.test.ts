import assert from "node:assert/strict";
import { EventEmitter, once } from "node:events";
import { type TestContext, test } from "node:test";
import twilio from "twilio";
import { Exchange } from "../../../../engine/sandbox/exchange.js";
import { TwilioSimulator } from "../../../../engine/sandbox/telephone/twilio-simulator.js";
import { TwilioCalls } from "../../../../engine/telephony/twilio/twilio-calls.js";
import { SystemClock } from "../../../../engine/time/clock.js";
import { VendorError } from "../../../../engine/vendors/contracts.js";
import { Connections } from "../../../../engine/vendors/transport/connections.js";
import { httpService } from "../../../doubles/http-service.js";
import { VirtualClock } from "../../../doubles/virtual-clock.js";

const ACCOUNT = { accountSid: `AC${"1".repeat(32)}`, authToken: "the-auth-token" };
const UNKNOWN_SID = `CA${"0".repeat(32)}`;
/** A call that rings until somebody hangs up. */
const CALL = {
  to: "+15550100005",
  from: "+15550109999",
  // Port 9 takes nothing: the reports go nowhere.
  answerUrl: "http://127.0.0.1:9/answer?token=1&x=2",
  statusUrl: "http://127.0.0.1:9/status?token=1",
  detectMachine: true,
  ringTimeoutSec: 30,
};

function simulate(context: TestContext, simulator: TwilioSimulator): Promise<string> {
  return httpService(context, (request, response) => {
    const url = new URL(request.url ?? "/", "http://twilio");
    void simulator.handleRequest(new Exchange(request, response, url));
  });
}

function client(context: TestContext, baseUrl: string, clock = new SystemClock()): TwilioCalls {
  const connections = new Connections({ clock, allowPrivateAddresses: true });
  context.after(() => connections.close());
  return new TwilioCalls({ vendor: "twilio", ...ACCOUNT, baseUrl }, { clock, connections });
}

const NOTHING = { document: "<Response/>", url: "https://voice.example.com/hold" };

test("a call is placed with its addresses, all events and the detection of machines", async (t) => {
  const simulator = new TwilioSimulator();
  const calls = client(t, await simulate(t, simulator));
  const sid = await calls.place(CALL);
  const [placed] = simulator.calls;
  assert.equal(placed?.sid, sid);
  assert.deepEqual(placed.form.getAll("StatusCallbackEvent"), [
    "initiated",
    "ringing",
    "answered",
    "completed",
  ]);
  placed.form.delete("StatusCallbackEvent");
  assert.deepEqual(Object.fromEntries(placed.form), {
    To: CALL.to,
    From: CALL.from,
    Url: CALL.answerUrl,
    Method: "POST",
    StatusCallback: CALL.statusUrl,
    StatusCallbackMethod: "POST",
    Timeout: "30",
    MachineDetection: "Enable",
    AsyncAmd: "true",
    AsyncAmdStatusCallback: CALL.statusUrl,
    AsyncAmdStatusCallbackMethod: "POST",
  });
});

test("a call that may reach a machine is placed without its detection", async (t) => {
  const simulator = new TwilioSimulator();
  const calls = client(t, await simulate(t, simulator));
  await calls.place({ ...CALL, detectMachine: false });
  const names = new Set(simulator.calls[0]?.form.keys());
  assert.ok(names.has("Timeout"));
  assert.deepEqual(
    [...names].filter((name) => /machine|amd/i.test(name)),
    [],
  );
});

test("one status hangs up what rings and what is answered; what is gone needs no hanging up", async (t) => {
  const simulator = new TwilioSimulator();
  const calls = client(t, await simulate(t, simulator));
  const sid = await calls.place(CALL);
  await calls.hangUp(sid);
  assert.equal(simulator.calls[0]?.updates[0]?.get("Status"), "completed");
  await calls.hangUp(UNKNOWN_SID);
  assert.equal(await calls.redirect(UNKNOWN_SID, NOTHING), false);
  assert.equal(await calls.isLive(UNKNOWN_SID), false);
});

test("a call that has ended is refused with Twilio's code 21220, and needs neither a document nor an end", async (t) => {
  const simulator = new TwilioSimulator();
  const calls = client(t, await simulate(t, simulator));
  // The number is busy.
  const sid = await calls.place({ ...CALL, to: "+15550000001" });
  while (await calls.isLive(sid)) await new Promise(setImmediate);
  assert.equal(await calls.redirect(sid, NOTHING), false);
  await calls.hangUp(sid);
  await assert.rejects(calls.replaceDocument(sid, "<Response/>"), { vendorCode: 21_220 });
});

test("a refusal names the vendor's code, and neither the number nor the token", async (t) => {
  const calls = client(t, await simulate(t, new TwilioSimulator()));
  await assert.rejects(calls.place({ ...CALL, to: "+15550100009" }), (error: unknown) => {
    assert.ok(error instanceof VendorError);
    assert.equal(error.message, "twilio answered 400: error 21211");
    assert.equal(error.fault, "refused");
    return true;
  });
});

test("an answer that is no call, and one that is too large, are bad answers", async (t) => {
  for (const body of ['{"sid":"../x"}', "<html>", `{"sid":"${"a".repeat(70_000)}"}`]) {
    const baseUrl = await httpService(t, (_request, response) => response.writeHead(201).end(body));
    await assert.rejects(client(t, baseUrl).place(CALL), { fault: "badAnswer" });
  }
});

test("a vendor that does not answer is given up after ten seconds", async (t) => {
  const clock = new VirtualClock();
  const asked = new EventEmitter();
  const baseUrl = await httpService(t, () => asked.emit("request"));
  const request = once(asked, "request");
  const placing = assert.rejects(client(t, baseUrl, clock).place(CALL), { fault: "timeout" });
  await request;
  clock.advance(10_000);
  await placing;
});

test("the vendor's own library gets on with the simulator as our client does", async (t) => {
  const simulator = new TwilioSimulator();
  const library = twilio(ACCOUNT.accountSid, ACCOUNT.authToken);
  library.api.baseUrl = await simulate(t, simulator);
  const { sid, status } = await library.calls.create({
    to: CALL.to,
    from: CALL.from,
    url: CALL.answerUrl,
  });
  assert.equal(status, "queued");
  assert.equal(simulator.calls[0]?.sid, sid);
  await library.calls(sid).update({ status: "canceled" });
  await assert.rejects(library.calls(UNKNOWN_SID).update({ status: "completed" }), { code: 20404 });
});
