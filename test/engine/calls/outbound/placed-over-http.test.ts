import assert from "node:assert/strict";
import type { ServerResponse } from "node:http";
import { test } from "node:test";
import {
  CallRefusedError,
  type RefusalReason,
} from "../../../../engine/calls/call-refused-error.js";
import { OutboundTelephony } from "../../../../engine/calls/outbound/outbound-telephony.js";
import type { Ending } from "../../../../engine/conversation/call-end.js";
import { RequestError } from "../../../../engine/request-error.js";
import type { RequestErrorCode } from "../../../../storage/parley-error.js";
import { installationApis, NO_OWN_NUMBERS } from "../../../doubles/installation-apis.js";
import {
  CALLS_MAX,
  NOTHING_LEFT,
  ORDER,
  outboundFor,
  slowOrder,
  TalkingCall,
  TENANT,
} from "../outbound-stand.js";

const OUTCOME_MAX_MS = 5 * 60 * 1_000;
const STOPPING: Ending = { reason: "serverStopping", status: "completed", message: "restarting" };

function failure(code: RequestErrorCode, message: RegExp) {
  return (error: unknown) => {
    assert.ok(error instanceof RequestError, String(error));
    assert.equal(error.code, code);
    assert.match(error.message, message);
    return true;
  };
}

test("a placed call rings for a minute, and holds a slot that the answer finds", async (t) => {
  const { outbound, slots, liveCalls, place, vendor, lastToken } = await outboundFor(t);
  const placed = await place();
  assert.deepEqual(placed, { id: "id-1", agentId: "agent", status: "queued" });
  const { form } = await vendor.request(1);
  assert.equal(
    form.get("Url"),
    `https://voice.example.com/api/telephony/answer?token=${lastToken()}`,
  );
  assert.equal(
    form.get("StatusCallback"),
    `https://voice.example.com/api/telephony/status?token=${lastToken()}`,
  );
  assert.deepEqual(
    [form.get("To"), form.get("From"), form.get("Timeout")],
    [ORDER.to, ORDER.from, "60"],
  );
  assert.deepEqual(
    [slots.countOf("org"), liveCalls.has("id-1"), outbound.ringingCount],
    [1, true, 1],
  );
  assert.deepEqual(outbound.answering(lastToken()), {
    callId: "id-1",
    orgId: "org",
    agentId: "agent",
    vendor: "twilio",
  });
  assert.equal(outbound.answering(`${lastToken()}x`), undefined);
});

test("what would refuse a caller refuses the order, each in its own way", async (t) => {
  const kinds: readonly (readonly [RefusalReason, RequestErrorCode])[] = [
    ["agentNotFound", "agent_not_found"],
    ["providerUnavailable", "provider_unavailable"],
    ["modelNotAllowed", "model_not_allowed"],
    ["limitReached", "calls_limit_reached"],
    ["overloaded", "overloaded"],
    ["callerLeft", "unavailable"],
    ["serverStopping", "server_stopping"],
  ];
  let refusal: CallRefusedError | undefined;
  const opener = {
    preCall: () => Promise.resolve({}),
    refusal: () => Promise.resolve(refusal),
    leavesMessages: () => Promise.resolve(false),
    voiceFault: () => Promise.resolve(undefined),
  };
  const { place, vendor, left } = await outboundFor(t, { opener });
  for (const [reason, kind] of kinds) {
    refusal = new CallRefusedError(reason, `no: ${reason}`);
    await assert.rejects(place(), failure(kind, new RegExp(`^no: ${reason}$`)));
  }
  assert.deepEqual([vendor.asked, left()], [[], NOTHING_LEFT]);
});

test("a server without its settings names them, and a number that is not allowed calls nobody", async (t) => {
  const telephony = new OutboundTelephony({
    apis: installationApis({}),
    ...NO_OWN_NUMBERS,
    baseUrl: undefined,
  });
  const bare = await outboundFor(t, { telephony });
  await assert.rejects(
    bare.place(),
    failure(
      "not_configured",
      /before the platform sets TWILIO_ACCOUNT_SID, TWILIO_AUTH_TOKEN, PUBLIC_BASE_URL$/,
    ),
  );
  const asked: string[][] = [];
  const phoneNumbers = {
    listOf: async () => [],
    isAllowed: (...of: string[]) => Promise.resolve(asked.push(of) > 1),
  };
  const { place, vendor, left } = await outboundFor(t, { phoneNumbers });
  await assert.rejects(
    place(),
    failure("caller_number_not_allowed", /^from: expected a number that/),
  );
  assert.deepEqual([vendor.asked, left()], [[], NOTHING_LEFT]);
  assert.equal((await place()).status, "queued");
  assert.deepEqual(asked, [
    ["org", ORDER.from],
    ["org", ORDER.from],
  ]);
});

test("no emergency and no premium number is called, whatever the operator allows", async (t) => {
  const dialTargets = { mayReach: () => Promise.resolve(true), listOf: () => Promise.resolve([]) };
  for (const deps of [{ dialTargets }, { dialTargets: undefined }]) {
    const { outbound, vendor, left } = await outboundFor(t, deps);
    for (const [to, words] of [
      ["+3531120", undefined],
      ["+1911", /agents cannot call emergency numbers/],
      ["+19005550100", /agents cannot call premium numbers/],
    ] as const) {
      const placing = outbound.place(TENANT, { ...ORDER, to });
      if (words === undefined) await placing;
      else await assert.rejects(placing, failure("target_not_allowed", words));
    }
    assert.equal(vendor.asked.length, 1);
    assert.equal(left()[0], 1, "the call that was placed");
  }
});

test("calls that ring count against the plan, until they are over", async (t) => {
  const { place, say, vendor, slots } = await outboundFor(t);
  for (let n = 0; n < CALLS_MAX; n += 1) await place();
  await assert.rejects(
    place(),
    failure("calls_limit_reached", /the plan allows 2 calls at the same time/),
  );
  assert.deepEqual([vendor.asked.length, slots.countOf("org")], [CALLS_MAX, CALLS_MAX]);
  await say("busy");
  await place();
});

for (const [what, status, body, code, message] of [
  [
    "a wrong number",
    400,
    { code: 21211 },
    "call_rejected",
    /refused the call with its error 21211$/,
  ],
  [
    "our account",
    401,
    { code: 20003 },
    "telephony_unavailable",
    /refused the call with its error 20003$/,
  ],
  ["a refusal without a number", 400, {}, "telephony_unavailable", /does not take calls now$/],
  ["too many requests", 429, { code: 20429 }, "telephony_unavailable", /does not take calls now$/],
  [
    "a vendor that is down",
    503,
    { code: 20503 },
    "telephony_unavailable",
    /does not take calls now$/,
  ],
] as const) {
  test(`an order that fails for ${what} leaves no resources behind`, async (t) => {
    const { outbound, place, lastToken, vendor, left, log } = await outboundFor(t);
    vendor.refuse(status, body);
    await assert.rejects(place(), failure(code, message));
    assert.deepEqual(left(), NOTHING_LEFT);
    assert.equal(outbound.answering(lastToken()), undefined);
    assert.deepEqual(
      log.lines.map(({ message: words }) => words),
      ["a call could not be placed"],
    );
  });
}

test("an order whose answer is lost is not refused: its call rings, and is over when nothing is heard of it", async (t) => {
  const { outbound, place, lastToken, vendor, left, clock, log } = await outboundFor(t);
  vendor.answer = (response) => void response.destroy();
  assert.deepEqual(await place(), { id: "id-1", agentId: "agent", status: "queued" });
  assert.equal(outbound.answering(lastToken())?.callId, "id-1");
  assert.match(log.lines[0]?.message ?? "", /^unknown whether a call was placed/);
  clock.advance(OUTCOME_MAX_MS);
  assert.deepEqual(left(), NOTHING_LEFT);
});

test("a vendor that answers without sense is no refusal", async (t) => {
  const { place, vendor, left } = await outboundFor(t);
  vendor.answer = (response) => void response.writeHead(201).end("{}");
  await assert.rejects(place(), failure("telephony_unavailable", /does not take calls now$/));
  assert.deepEqual(left(), NOTHING_LEFT);
});

test("a call of which nothing is heard for five minutes is hung up and recorded", async (t) => {
  const { clock, place, vendor, left, endOf } = await outboundFor(t);
  assert.equal(OUTCOME_MAX_MS, 300_000);
  const { id } = await place();
  clock.advance(OUTCOME_MAX_MS - 1);
  assert.equal(vendor.asked.length, 1);
  clock.advance(1);
  const hangUp = await vendor.request(2);
  assert.match(hangUp.path, /CA0{31}1\.json$/);
  assert.equal(hangUp.form.get("Status"), "canceled");
  assert.deepEqual(left(), NOTHING_LEFT);
  assert.deepEqual(await endOf(id), [
    "failed",
    "noAnswer",
    "the telephony vendor reported no outcome of the call",
  ]);
});

test("a server that stops hangs up what rings, and a hang-up that fails is logged", async (t) => {
  const { liveCalls, place, vendor, left, endOf, log } = await outboundFor(t);
  const { id } = await place();
  vendor.refuse(400, { code: 20001 });
  liveCalls.endAll(STOPPING);
  assert.deepEqual(left(), NOTHING_LEFT);
  await vendor.request(2);
  assert.deepEqual(await endOf(id), ["failed", "serverStopping", "restarting"]);
  while (log.ofLevel("error").length === 0) await new Promise(setImmediate);
  const [line] = log.ofLevel("error");
  assert.deepEqual(
    [line?.message, line?.fields["callId"]],
    ["a placed call could not be hung up", id],
  );
});

test("a call that was given up before the vendor took it is hung up when it does", async (t) => {
  const { liveCalls, vendor, accept, left } = await slowOrder(t);
  liveCalls.endAll(STOPPING);
  assert.deepEqual(left(), NOTHING_LEFT);
  assert.equal(vendor.asked.length, 1, "the vendor has told no id to hang up with");
  await accept();
  const hangUp = await vendor.request(2);
  assert.match(hangUp.path, /CA0{31}1\.json$/);
});

test("a call that is answered before the vendor has confirmed it continues", async (t) => {
  const { outbound, vendor, accept, liveCalls } = await slowOrder(t);
  await outbound.connect("id-1", "org", () => {
    const session = new TalkingCall("id-1");
    liveCalls.add(session);
    return Promise.resolve(session);
  });
  await accept();
  await vendor.request(1);
  assert.deepEqual([vendor.asked.length, liveCalls.count], [1, 1]);
});

test("a call that was answered before the order's own answer was lost keeps its slot", async (t) => {
  const { outbound, slots, liveCalls, place, vendor, lastToken, left } = await outboundFor(t);
  let order: ServerResponse | undefined;
  vendor.answer = (response) => {
    order = response;
  };
  const placing = place();
  await vendor.request(1);
  assert.ok(outbound.answering(lastToken()));
  const session = new TalkingCall("id-1");
  await outbound.connect("id-1", "org", () => {
    liveCalls.add(session);
    return Promise.resolve(session);
  });
  order?.destroy();
  assert.deepEqual(await placing, { id: "id-1", agentId: "agent", status: "queued" });
  assert.deepEqual([slots.countOf("org"), liveCalls.find("id-1")], [1, session]);
  liveCalls.remove("id-1");
  slots.release("id-1");
  assert.deepEqual(left(), NOTHING_LEFT);
});
