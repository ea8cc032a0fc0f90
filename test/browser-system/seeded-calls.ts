import type { CallListRecord } from "../../storage/calls/call-list-record.js";
import type { CallSummary } from "../../storage/calls/call-store.js";
import type { Database } from "../../storage/database.js";
import { placedCallJob } from "../../storage/jobs/job-record.js";
import type { CallRecord, JsonObject } from "../../storage/records.js";
import { callRecord } from "../api/routes/call-drafts.js";
import { callListEntry, callListRecord, callListRow } from "../storage/calls/sample-call-list.js";
import type { Customer } from "../system/test-server.js";

const CALLS_AT_ONCE = 500;
const NO_USAGE = { calls: 0, minutes: 0, ttsChars: 0, llmTokens: 0, sttSeconds: 0 };

/**
 * Stores ended calls of an agent, one per second back from now. Their ids contain the customer's key id and their
 * distance from now.
 */
export async function seedCalls(
  { calls }: Pick<Database, "calls">,
  customer: Customer,
  agentId: string,
  count: number,
): Promise<void> {
  const orgId = customer.tenant.organization.id;
  const metrics = {
    ttfbMs: 800,
    avgLatencyMs: 900,
    totalTokens: 5,
    ttsChars: 6,
    interruptions: 0,
    turnCount: 2,
  };
  const now = Date.now();
  for (let first = 0; first < count; first += CALLS_AT_ONCE) {
    const some = Array.from({ length: Math.min(CALLS_AT_ONCE, count - first) }, (_, index) => {
      const id = `${customer.apiKeyId}-${first + index}`;
      const startedAtMs = now - (first + index) * 1_000;
      return calls.start(
        {
          id,
          orgId,
          agentId,
          sessionId: id,
          channel: "web",
          status: "completed",
          startedAtMs,
          endedAtMs: startedAtMs + 500,
          durationSec: 0.5,
          metrics,
          summary: null,
          sentiment: null,
          analysis: null,
          transcript: [{ role: "assistant", text: `Hello from ${id}`, timestamp: startedAtMs }],
          metadata: { endReason: "callerLeft" },
          createdAtMs: startedAtMs,
        },
        "run",
      );
    });
    await Promise.all(some);
  }
}

/** Stores a call that failed a minute ago: its STT vendor failed without a fallback. Returns its id. */
export async function seedFailedCall(
  { calls }: Pick<Database, "calls">,
  customer: Customer,
  agentId: string,
): Promise<string> {
  const orgId = customer.tenant.organization.id;
  const startedAtMs = Date.now() - 60_000;
  const call = callRecord({ id: `${orgId}-failed`, orgId, agentId, startedAtMs });
  const { id: callId, metrics } = call;
  await calls.start(call, "run");
  const lost = { firstVendor: "deepgram", firstModel: "nova-3", firstFault: "disconnected" };
  const turn = { stt: { vendor: "", model: "", attempts: 1, ...lost, wastedMs: 1_200 } };
  await calls.saveTurn(callId, { messages: [], metrics, turn, atMs: startedAtMs });
  await calls.finish(callId, {
    status: "failed",
    endedAtMs: startedAtMs,
    durationSec: 0,
    metrics,
    metadata: { endReason: "sttFailed" },
    messages: [],
    usage: {
      orgId,
      date: new Date(startedAtMs).toISOString().slice(0, 10),
      ...NO_USAGE,
      calls: 1,
    },
  });
  return callId;
}

/** The stored fields of an ended call. */
export interface CallView {
  readonly transcript: CallRecord["transcript"];
  /** In the form in which turns are stored. */
  readonly turns: readonly JsonObject[];
  readonly metadata: JsonObject;
  readonly summary: Required<CallSummary>;
}

/** Stores a call that the caller has ended; its id contains the customer's key id. Returns the id. */
export async function seedToldCall(
  { calls }: Pick<Database, "calls">,
  customer: Customer,
  agentId: string,
  { transcript, turns, metadata, summary }: CallView,
): Promise<string> {
  const orgId = customer.tenant.organization.id;
  const startedAtMs = transcript[0]?.timestamp ?? 0;
  const endedAtMs = transcript.at(-1)?.timestamp ?? 0;
  const call = callRecord({ id: `${customer.apiKeyId}-told`, orgId, agentId, startedAtMs });
  const { id: callId, metrics } = call;
  await calls.start({ ...call, transcript }, "run");
  for (const turn of turns) {
    await calls.saveTurn(callId, { messages: [], metrics, turn, atMs: endedAtMs });
  }
  await calls.finish(callId, {
    status: "completed",
    endedAtMs,
    durationSec: (endedAtMs - startedAtMs) / 1_000,
    metrics,
    metadata: { endReason: "callerLeft", ...metadata },
    messages: [],
    usage: { orgId, date: "2026-01-31", ...NO_USAGE, calls: 1 },
  });
  await calls.saveSummary(callId, summary);
  return callId;
}

/** A list that is over, with each of the usual ends. */
async function seedCompletedList(
  { callLists, calls }: Pick<Database, "callLists" | "calls">,
  ofOrganization: Pick<CallListRecord, "orgId" | "agentId" | "createdAtMs" | "updatedAtMs">,
  id: string,
): Promise<void> {
  const { orgId, updatedAtMs: atMs } = ofOrganization;
  const ends = [
    ["completed", "callerLeft"],
    ["completed", "callerLeft"],
    ["completed", "agentHungUp"],
    ["completed", "machine"],
    ["failed", "noAnswer"],
    ["failed", "noAnswer"],
    ["failed", "outcomeUnknown"],
    ["failed", "outcomeUnknown"],
  ] as const;
  const list = callListRecord({
    ...ofOrganization,
    id,
    name: "Invitations",
    state: "running",
    callsMax: 20,
  });
  const rows = ends.map((_, index) => {
    const row = callListRow(index + 1);
    return { ...row, number: row.number.replace("+1555", "+1556") };
  });
  await callLists.insertWithin(list, rows, 9, { ...callListEntry("create"), orgId });
  const outcomes = ends.map(([state, reason], index) => {
    const position = index + 1;
    return { position, callId: `${id}-${position}`, state, reason, nextAtMs: 0 };
  });
  for (const { position, callId } of outcomes) {
    const job = placedCallJob({ orgId, callId, runId: "run" }, {}, atMs);
    await calls.place(job, callId, { listId: id, position, attempts: 0 });
  }
  await callLists.settle(id, outcomes);
  await callLists.complete(id, atMs);
}

/**
 * Stores a call list that is running, with people in every state, and one each that waits for a person, for its vendor and for its
 * hours, and that is over. Returns the first one's id; those of the others begin with it.
 */
export async function seedCallLists(
  { callLists, calls }: Pick<Database, "callLists" | "calls">,
  { tenant }: Customer,
  agentId: string,
): Promise<string> {
  const orgId = tenant.organization.id;
  const id = `${orgId}-list`;
  const atMs = Date.now();
  const ofOrganization = { orgId, agentId, createdAtMs: atMs - 3_600_000, updatedAtMs: atMs };
  const list = callListRecord({ ...ofOrganization, id, callsMax: 20, state: "running" });
  const rows = Array.from({ length: 9 }, (_, index) => callListRow(index + 1));
  const [first, ...others] = rows;
  const long = { firstName: "Réception ".repeat(12).trim() };
  const people = first === undefined ? rows : [{ ...first, variables: long }, ...others];
  await callLists.insertWithin(list, people, 9, { ...callListEntry("create"), orgId });
  const claims = [1, 2, 3, 4, 5, 6].map((position) => {
    const callId = `${id}-${position}`;
    const job = placedCallJob({ orgId, callId, runId: "run" }, {}, atMs - position * 60_000);
    return calls.place(job, callId, { listId: id, position, attempts: 0 });
  });
  await Promise.all(claims);
  const outcome = (position: number) => ({ position, callId: `${id}-${position}`, nextAtMs: 0 });
  await callLists.settle(id, [
    { ...outcome(1), state: "completed", reason: "callerLeft" },
    { ...outcome(2), state: "failed", reason: "machine" },
    { ...outcome(3), state: "completed", reason: "callerLeft" },
    { ...outcome(4), state: "waiting", reason: "busy", nextAtMs: atMs + 300_000 },
    { ...outcome(5), state: "failed", reason: "rejected" },
  ]);
  await callLists.skip(id, 7, "doNotCall");
  const paused = callListRecord({
    ...ofOrganization,
    id: `${id}-paused`,
    name: "مكتب الاستقبال الرئيسي 🛎",
    state: "paused",
    holdCode: "agent_not_found",
    holdReason: "there is no such agent, or it is switched off",
    heldSinceMs: atMs - 600_000,
  });
  await callLists.insertWithin(paused, rows, 9, { ...callListEntry("create"), orgId });
  const held = callListRecord({
    ...ofOrganization,
    id: `${id}-held`,
    name: "Survey",
    state: "running",
    holdCode: "telephony_unavailable",
    holdReason: "the telephony vendor accepts no more calls for now (429)",
    heldSinceMs: atMs - 1_200_000,
    heldUntilMs: atMs + 420_000,
    vendorRefusals: 7,
  });
  await callLists.insertWithin(held, rows, 9, { ...callListEntry("create"), orgId });
  const waiting = callListRecord({
    ...ofOrganization,
    id: `${id}-waiting`,
    name: "Renewals",
    state: "running",
    nextCallAtMs: atMs + 36_000_000,
  });
  await callLists.insertWithin(waiting, rows, 9, { ...callListEntry("create"), orgId });
  await seedCompletedList({ callLists, calls }, ofOrganization, `${id}-completed`);
  return id;
}
