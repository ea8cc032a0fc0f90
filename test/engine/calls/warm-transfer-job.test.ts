import assert from "node:assert/strict";
import { test } from "node:test";
import { WarmTransferJob } from "../../../engine/calls/warm-transfer-job.js";
import type { CallControlApi } from "../../../engine/telephony/call-control.js";
import { VendorError } from "../../../engine/vendors/contracts.js";
import { WARM_TRANSFER_MAX_MS, warmTransferJob } from "../../../storage/jobs/job-record.js";
import type { CallRecord, JsonObject } from "../../../storage/records.js";
import { installationApis } from "../../doubles/installation-apis.js";
import { RecordingLogger } from "../../doubles/recording-logger.js";
import { callRecord, NOON_MS } from "../../storage/sample-records.js";

const RESULT_URL = "https://voice.example.com/api/telephony/continue?token=t";
const TRANSFER = {
  to: "+15550101000",
  mode: "warm",
  result: "dialing",
  personCallId: "CA2",
  startedAtMs: NOON_MS,
};
const NEXT: CallRecord = callRecord({ id: "next", sessionId: "next session" });

interface Options {
  readonly next?: CallRecord;
  readonly fails?: true;
  readonly isStarting?: true;
}

/** The job of a warm transfer whose call is stored like this. */
function left(transfer: JsonObject | undefined, options: Options = {}) {
  const asked: string[] = [];
  const noted: JsonObject[] = [];
  const api: CallControlApi = {
    verify: () => Promise.resolve(),
    place: () => assert.fail("nobody is called"),
    hangUp: async (callRef) => void asked.push(`hang up ${callRef}`),
    redirect: async (callRef, document) => {
      if (options.fails === true) throw new VendorError("twilio", "unavailable", "out of order");
      asked.push(`redirect ${callRef}: ${document.includes(RESULT_URL) ? "result" : document}`);
    },
  };
  const call = callRecord({
    id: "call",
    metadata: { endReason: "transferred", ...(transfer !== undefined && { transfer }) },
  });
  const job = new WarmTransferJob({
    calls: {
      findById: async (_orgId, id) => (id === "call" ? call : undefined),
      findBySession: async () => options.next,
      annotate: async (_id, metadata) => void noted.push(metadata),
    },
    apis: installationApis({ twilio: api }),
    isListening: () => options.isStarting !== true,
    log: new RecordingLogger(),
  });
  const payload = {
    callId: "call",
    startedAtMs: NOON_MS,
    nextSessionId: "next session",
    vendor: "twilio",
    callerRef: "CA1",
    ownAccount: false,
    resultUrl: RESULT_URL,
  };
  const stored = warmTransferJob("org", "call", payload, NOON_MS);
  const state = {
    state: "running",
    lane: null,
    attempts: 1,
    lastError: null,
    failedAtMs: null,
  } as const;
  return { run: () => job.run({ ...stored, ...state, fence: 1 }), asked, noted, stored };
}

test("a caller who is still on hold when the time is over is brought back, and the person's telephone stops", async () => {
  const { run, asked, noted, stored } = left(TRANSFER);
  assert.equal(stored.runAfterMs, NOON_MS + WARM_TRANSFER_MAX_MS);
  assert.deepEqual(await run(), { kind: "done" });
  assert.deepEqual(asked, ["hang up CA2", "redirect CA1: result"]);
  const [note] = noted;
  assert.equal(note?.["endReason"], "transferFailed");
  assert.equal(Object(note?.["transfer"]).result, "notAccepted");
});

test("a caller whose way back the vendor has refused is brought back with the outcome that is stored", async () => {
  const { run, asked, noted } = left({ ...TRANSFER, result: "busy" });
  assert.deepEqual(await run(), { kind: "done" });
  assert.deepEqual(asked, ["hang up CA2", "redirect CA1: result"]);
  assert.deepEqual(noted, []);
});

test("a caller is not brought back before the server answers requests", async () => {
  const { run, asked, noted } = left(TRANSFER, { isStarting: true });
  assert.equal((await run()).kind, "retry");
  assert.deepEqual([asked, noted], [[], []]);
});

test("a vendor that is away is asked again later", async () => {
  assert.equal((await left(TRANSFER, { fails: true }).run()).kind, "retry");
});

const NOTHING_TO_DO: readonly (readonly [string, JsonObject | undefined, CallRecord?])[] = [
  ["talks to the person", { ...TRANSFER, result: "answered" }],
  ["is back with the agent", TRANSFER, NEXT],
  ["was never put on hold", undefined],
  ["was put on hold by a later attempt", { ...TRANSFER, startedAtMs: NOON_MS + 1 }],
  ["was handed on without a question", { ...TRANSFER, mode: "blind" }],
];
for (const [who, transfer, next] of NOTHING_TO_DO) {
  test(`a caller who ${who} is left alone`, async () => {
    const { run, asked, noted } = left(transfer, next === undefined ? {} : { next });
    assert.deepEqual(await run(), { kind: "done" });
    assert.deepEqual([asked, noted], [[], []]);
  });
}
