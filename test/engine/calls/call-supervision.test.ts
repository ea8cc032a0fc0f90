import assert from "node:assert/strict";
import { test } from "node:test";
import * as v from "valibot";
import { CallSupervision } from "../../../engine/calls/call-supervision.js";
import type { Watcher } from "../../../engine/calls/topic-subscribers.js";
import {
  type CallControl,
  CONTROL_OUTCOMES,
  type ControlOutcome,
} from "../../../engine/conversation/control-command.js";
import { RequestError } from "../../../engine/request-error.js";
import type { CallRecord, CallStatus, JsonObject } from "../../../storage/records.js";
import type { AuditRecord } from "../../../storage/tenancy/audit-record.js";
import { VirtualClock } from "../../doubles/virtual-clock.js";
import { callRecord } from "../../storage/sample-records.js";
import { TENANT } from "../tenancy/sample-tenant.js";

const WATCHER: Watcher = { news: () => undefined, pulse: () => undefined };

/** A call of the tenant's in this state; `isHere`: whether any process of the server has it. */
function supervising(
  status: CallStatus,
  isHere = true,
  channel: CallRecord["channel"] = "web",
  more: Partial<CallRecord> = {},
) {
  const briefings: (string | undefined)[] = [];
  const controlled: CallControl[] = [];
  const outcome: { control: ControlOutcome } = { control: "done" };
  const ended: (readonly [string, string])[] = [];
  const noted: JsonObject[] = [];
  const entries: AuditRecord[] = [];
  const watched: unknown[] = [];
  const steps: string[] = [];
  const recording = { stored: Promise.resolve(true) };
  const clock = new VirtualClock();
  const standing = { areActive: () => Promise.resolve(true) };
  const supervision = new CallSupervision({
    clock,
    standing,
    dialTargets: { mayReach: async (_orgId, target) => target === "+15550101000" },
    phoneNumbers: { isAllowed: async (_orgId, number) => number === "+15550109999" },
    calls: {
      findById: async (orgId, id) =>
        orgId === TENANT.organization.id && id === "call"
          ? callRecord({ id, status, channel, ...more })
          : undefined,
    },
    feed: {
      requireRoom: (orgId) => {
        if (watched.length > 1) throw new RequestError("rate_limited", `${orgId} watches enough`);
      },
      watch: async (topic) => void watched.push(topic),
    },
    journal: {
      annotate: (_callId, metadata) => void noted.push(metadata),
      recordAction: async (_callId, entry) => {
        steps.push(entry.action);
        entries.push(entry);
        return recording.stored;
      },
    },
    newId: () => `entry ${entries.length + 1}`,
    warmTransferRefusal: async ({ metadata }) =>
      metadata["phoneVendor"] === "twilio" ? undefined : "no account can make one",
    transferSummaries: { of: () => Promise.resolve("the caller wants a person") },
    endCall: (callId, { reason }) => {
      steps.push("ended");
      ended.push([callId, reason]);
      return isHere;
    },
    controlCall: (call) => {
      const { callId, command } = call;
      if (command.type === "transfer") {
        steps.push("ended");
        if (!isHere) return "elsewhere";
        briefings.push(command.ending.briefing);
        ended.push([callId, command.ending.transferTo ?? ""]);
        return outcome.control;
      }
      steps.push("controlled");
      controlled.push(call);
      return outcome.control;
    },
  });
  const made = { briefings, ended, noted, entries, watched, controlled, steps, recording };
  return { supervision, ...made, clock, standing, outcome };
}

test("a transfer shows the caller's number or one of the organization's, and no other", async () => {
  const { supervision, ended } = supervising("active", true, "phone");
  const to = "+15550101000";
  for (const callerId of ["caller", "+15550109999"])
    await supervision.transfer(TENANT, "call", { to, callerId });
  assert.equal(ended.length, 2);
  await assert.rejects(supervision.transfer(TENANT, "call", { to, callerId: "+15550108888" }), {
    code: "caller_number_not_allowed",
    message: /^callerId: expected/,
  });
  assert.equal(ended.length, 2);
});

test("a call in progress is ended where it is, and its record names the person", async () => {
  const { supervision, ended, noted } = supervising("active");
  await supervision.end(TENANT, "call");
  await supervision.end({ ...TENANT, userId: undefined, apiKeyId: "key" }, "call");
  assert.deepEqual(
    ended,
    [1, 2].map(() => ["call", "organizationEnded"]),
  );
  assert.deepEqual(noted, [
    { endedBy: { type: "user", id: TENANT.userId } },
    { endedBy: { type: "apiKey", id: "key" } },
  ]);
});

test("a call that is over, is nowhere or is another organization's cannot be ended", async () => {
  const over = supervising("completed");
  await assert.rejects(over.supervision.end(TENANT, "call"), { code: "call_ended" });
  await assert.rejects(over.supervision.end(TENANT, "unknown"), { code: "not_found" });
  assert.deepEqual(over.ended, []);
  const nowhere = supervising("active", false);
  await assert.rejects(nowhere.supervision.end(TENANT, "call"), { code: "call_ended" });
  assert.deepEqual(nowhere.noted, []);
});

test("a telephone call is transferred to an allowed target, and its record names the person", async () => {
  const { supervision, ended, noted } = supervising("active", true, "phone");
  await supervision.transfer(TENANT, "call", { to: "+15550101000" });
  assert.deepEqual(ended, [["call", "+15550101000"]]);
  assert.deepEqual(noted, [{ transferredBy: { type: "user", id: TENANT.userId } }]);
  const refused = { code: "target_not_allowed" };
  for (const to of ["+15550102000", "+19005550100", "+112"]) {
    await assert.rejects(supervision.transfer(TENANT, "call", { to }), refused, to);
  }
  await assert.rejects(supervision.transfer(TENANT, "unknown", { to: "+15550101000" }), {
    code: "not_found",
  });
  assert.equal(ended.length, 1);
});

test("a transfer of a call that is not open yet, or ends already, is refused", async () => {
  const { supervision, noted, outcome } = supervising("active", true, "phone");
  const transfer = () => supervision.transfer(TENANT, "call", { to: "+15550101000" });
  outcome.control = "ending";
  const message = "the agent is ending or transferring the call";
  await assert.rejects(transfer, { code: "conflict", message });
  outcome.control = "opening";
  await assert.rejects(transfer, { code: "conflict", message: /not open yet/ });
  assert.deepEqual(noted, []);
});

test("a browser call, and one that is over or unknown, cannot be transferred", async () => {
  const transferring = ({ supervision }: ReturnType<typeof supervising>) =>
    supervision.transfer(TENANT, "call", { to: "+15550101000" });
  const web = supervising("active");
  await assert.rejects(transferring(web), { code: "conflict" });
  await assert.rejects(transferring(supervising("completed", true, "phone")), {
    code: "call_ended",
  });
  const nowhere = supervising("active", false, "phone");
  await assert.rejects(transferring(nowhere), { code: "call_ended" });
  assert.deepEqual([web.ended, nowhere.noted], [[], []]);
});

test("a warm transfer has a briefing: the order's own, or what the LLM writes", async () => {
  const to = "+15550101000";
  const twilio = { metadata: { direction: "inbound", phoneVendor: "twilio" } };
  const { supervision, briefings } = supervising("active", true, "phone", twilio);
  await supervision.transfer(TENANT, "call", { to, mode: "warm" });
  await supervision.transfer(TENANT, "call", { to, mode: "warm", summary: "Order\n12." });
  await supervision.transfer(TENANT, "call", { to, mode: "blind", summary: "Order 12." });
  assert.deepEqual(briefings, ["the caller wants a person", "Order 12.", undefined]);
  const telnyx = { metadata: { direction: "inbound", phoneVendor: "telnyx" } };
  const elsewhere = supervising("active", true, "phone", telnyx);
  await assert.rejects(elsewhere.supervision.transfer(TENANT, "call", { to, mode: "warm" }), {
    code: "conflict",
    message: "mode: expected blind, since no account can make one",
  });
  assert.deepEqual(elsewhere.ended, []);
});

test("only a telephone call takes DTMF", async () => {
  const dtmf = { type: "sendDigits", digits: "12#" } as const;
  const phone = supervising("active", true, "phone");
  await phone.supervision.control(TENANT, "call", dtmf);
  assert.deepEqual(phone.controlled, [{ callId: "call", command: dtmf }]);
  const web = supervising("active");
  await assert.rejects(web.supervision.control(TENANT, "call", dtmf), { code: "conflict" });
  assert.deepEqual(web.controlled, []);
});

test("all calls are watched, or one that there is, while there is room", async () => {
  const { supervision, watched } = supervising("active");
  const signal = new AbortController().signal;
  await supervision.watchAll(TENANT).run(WATCHER, signal);
  await (await supervision.watchOne(TENANT, "call")).run(WATCHER, signal);
  const orgId = TENANT.organization.id;
  assert.deepEqual(watched, [{ orgId }, { orgId, callId: "call" }]);
  assert.throws(() => supervision.watchAll(TENANT), { code: "rate_limited" });
  await assert.rejects(supervision.watchOne(TENANT, "call"), { code: "rate_limited" });
  await assert.rejects(supervision.watchOne(TENANT, "unknown"), { code: "not_found" });
});

test("a command reaches the call without control characters, and an outcome that is none has a name", async () => {
  const { supervision, controlled, outcome } = supervising("active");
  await supervision.control(TENANT, "call", {
    type: "say",
    text: "One\u0000 moment.",
    interrupt: true,
  });
  await supervision.control(TENANT, "call", { type: "addContext", text: "one\ntwo\u2028three" });
  await supervision.control(TENANT, "call", { type: "mute" });
  assert.deepEqual(controlled, [
    { callId: "call", command: { type: "say", text: "One moment.", interrupt: true } },
    { callId: "call", command: { type: "addContext", text: "one two three" } },
    { callId: "call", command: { type: "mute" } },
  ]);
  const codes = {
    opening: "conflict",
    ending: "conflict",
    tooManyWaiting: "conflict",
    ended: "call_ended",
    elsewhere: "call_ended",
  } as const;
  for (const [name, code] of Object.entries(codes)) {
    outcome.control = v.parse(v.picklist(CONTROL_OUTCOMES), name);
    await assert.rejects(supervision.control(TENANT, "call", { type: "unmute" }), { code });
  }
  const over = supervising("completed");
  await assert.rejects(over.supervision.control(TENANT, "call", { type: "mute" }), {
    code: "call_ended",
  });
  await assert.rejects(over.supervision.control(TENANT, "other", { type: "mute" }), {
    code: "not_found",
  });
  const silent = { type: "say", text: " … ", interrupt: true } as const;
  await assert.rejects(supervision.control(TENANT, "call", silent), {
    code: "invalid_request",
    message: "text: expected a text in which something can be spoken",
  });
  assert.equal(
    controlled.some(({ command }) => "text" in command && command.text.includes("…")),
    false,
  );
  assert.deepEqual(over.controlled, []);
});

test("whoever controls a call stands in the audit trail, without what was said, sent or dialled", async () => {
  const { supervision, entries, outcome, clock } = supervising("active", true, "phone");
  const byKey = { ...TENANT, userId: undefined, apiKeyId: "key" };
  const commands = [
    { type: "say", text: "We close soon.", interrupt: false },
    { type: "addContext", text: "The caller has a refund." },
    { type: "sendDigits", digits: "12#" },
    { type: "mute" },
    { type: "unmute" },
  ] as const;
  for (const command of commands) await supervision.control(byKey, "call", command);
  await supervision.transfer(TENANT, "call", { to: "+15550101000" });
  await supervision.end(TENANT, "call");
  const ids = { type: "apiKey", id: "key" };
  const user = { type: "user", id: TENANT.userId };
  assert.deepEqual(
    entries.map(({ action, actor }) => [action, actor]),
    [
      ["call.say", ids],
      ["call.addContext", ids],
      ["call.sendDtmf", ids],
      ["call.mute", ids],
      ["call.unmute", ids],
      ["call.transfer", user],
      ["call.end", user],
    ],
  );
  const orgId = TENANT.organization.id;
  const target = { targetType: "call", targetId: "call", targetName: "call", changes: [] };
  const [first] = entries;
  assert.deepEqual(first, {
    id: "entry 1",
    orgId,
    atMs: clock.epochMs(),
    actor: ids,
    action: "call.say",
    ...target,
  });
  outcome.control = "ending";
  await assert.rejects(supervision.control(byKey, "call", { type: "mute" }));
  const [order, failure] = entries.slice(commands.length + 2);
  assert.equal(order?.action, "call.mute");
  assert.deepEqual(
    [failure?.action, failure?.changes, failure?.actor],
    ["call.commandFailed", ["call.mute", "conflict"], ids],
  );
});

test("a command is in the audit trail before it acts, and with its failure after it", async () => {
  const { supervision, steps } = supervising("active", false, "phone");
  await supervision.control(TENANT, "call", { type: "mute" });
  await assert.rejects(supervision.end(TENANT, "call"));
  await assert.rejects(supervision.transfer(TENANT, "call", { to: "+15550101000" }));
  assert.equal(
    steps.join(", "),
    "call.mute, controlled, call.end, ended, call.commandFailed, call.transfer, ended, call.commandFailed",
  );
});

test("a command waits one second for a store that does not answer, and acts then", async () => {
  const { supervision, steps, recording, clock } = supervising("active");
  recording.stored = new Promise(() => undefined);
  const muting = supervision.control(TENANT, "call", { type: "mute" });
  await new Promise(setImmediate);
  clock.advance(999);
  await new Promise(setImmediate);
  assert.deepEqual(steps, ["call.mute"]);
  clock.advance(1);
  await muting;
  assert.deepEqual(steps, ["call.mute", "controlled"]);
});

test("a watch ends within a second of the end of the key or the user that began it", async () => {
  const clock = new VirtualClock();
  let holds = true;
  const supervision = new CallSupervision({
    phoneNumbers: undefined,
    calls: { findById: () => assert.fail("no call is looked for") },
    feed: {
      requireRoom: () => undefined,
      watch: (_topic, _watcher, signal) =>
        new Promise((resolve) => signal.addEventListener("abort", () => resolve())),
    },
    journal: { annotate: () => undefined, recordAction: () => assert.fail("nothing is done") },
    newId: () => assert.fail("nothing is done"),
    dialTargets: undefined,
    warmTransferRefusal: () => Promise.resolve(undefined),
    transferSummaries: { of: () => Promise.resolve("") },
    endCall: () => false,
    controlCall: () => "elsewhere",
    standing: { areActive: () => Promise.resolve(holds) },
    clock,
  });
  let isOver = false;
  const run = supervision
    .watchAll(TENANT)
    .run(WATCHER, new AbortController().signal)
    .then(() => {
      isOver = true;
    });
  clock.advance(5_000);
  await new Promise(setImmediate);
  assert.equal(isOver, false);
  holds = false;
  clock.advance(1_000);
  await run;
});
