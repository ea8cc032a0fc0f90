import assert from "node:assert/strict";
import { test } from "node:test";
import {
  ON_HOLD_MAX_MS,
  RETURN_MAX_MS,
  WarmTransferJob,
} from "../../../engine/calls/warm-transfer-job.js";
import type { CallControlApi } from "../../../engine/telephony/call-control.js";
import { VendorError } from "../../../engine/vendors/contracts.js";
import { WARM_TRANSFER_MAX_MS, warmTransferJob } from "../../../storage/jobs/job-record.js";
import type { CallRecord, JsonObject } from "../../../storage/records.js";
import { installationApis } from "../../doubles/installation-apis.js";
import { RecordingLogger } from "../../doubles/recording-logger.js";
import { VirtualClock } from "../../doubles/virtual-clock.js";
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
  readonly hangUpFails?: true;
  /** The caller's call has ended. */
  readonly isOver?: true;
  /** The person's call has not ended. */
  readonly isTalking?: true;
  readonly status?: CallRecord["status"];
  /** 2 if left out: the first try leaves a caller alone who may be on the way back. */
  readonly attempts?: number;
  /** The job was stored with the outcome. */
  readonly isReturnDue?: true;
  /** Twilio if left out. */
  readonly vendor?: string;
}

/** The job of a warm transfer whose call is stored like this. */
function left(transfer: JsonObject | undefined, options: Options = {}) {
  const { vendor = "twilio" } = options;
  const asked: string[] = [];
  const noted: JsonObject[] = [];
  const api: CallControlApi = {
    verify: () => Promise.resolve(),
    place: () => assert.fail("nobody is called"),
    hangUp: async (callRef) => {
      asked.push(`hang up ${callRef}`);
      if (options.hangUpFails === true)
        throw new VendorError("twilio", "unavailable", "out of order");
    },
    redirect: async (callRef, { document }) => {
      if (options.fails === true) throw new VendorError("twilio", "unavailable", "out of order");
      asked.push(`redirect ${callRef}: ${document.includes(RESULT_URL) ? "result" : document}`);
      return options.isOver !== true;
    },
    isLive: async (callRef) => {
      asked.push(`look at ${callRef}`);
      return options.isTalking === true;
    },
  };
  const call = callRecord({
    id: "call",
    status: options.status ?? "completed",
    metadata: { endReason: "transferred", ...(transfer !== undefined && { transfer }) },
  });
  const job = new WarmTransferJob({
    calls: {
      findById: async (_orgId, id) => (id === "call" ? call : undefined),
      findBySession: async () => options.next,
      annotate: () => assert.fail("Twilio ignores what it is answered then"),
      annotateIf: async (_id, isMet, metadata) => {
        if (!isMet(call.metadata)) return false;
        noted.push(metadata);
        return true;
      },
    },
    apis: installationApis({ [vendor]: api }),
    isListening: () => options.isStarting !== true,
    clock: new VirtualClock(),
    log: new RecordingLogger(),
  });
  const payload = {
    callId: "call",
    startedAtMs: NOON_MS,
    nextSessionId: "next session",
    vendor,
    callerRef: "CA1",
    ownAccount: false,
    resultUrl: RESULT_URL,
    ...(options.isReturnDue === true && { isReturnDue: true }),
  };
  const stored = warmTransferJob("org", "call", payload, NOON_MS);
  const state = {
    state: "running",
    lane: null,
    attempts: options.attempts ?? 2,
    lastError: null,
    failedAtMs: null,
  } as const;
  const run = (attempts = state.attempts) => job.run({ ...stored, ...state, attempts, fence: 1 });
  return { run, job, asked, noted, stored };
}

/** The vendor has taken the order, and the next try finds out whether it was done. */
const ORDERED = {
  kind: "retry",
  error: "the caller is not known to be back yet",
  afterMs: RETURN_MAX_MS,
} as const;

test("a caller who is still on hold when the time is over is brought back, and the person's telephone stops", async () => {
  const { run, asked, noted, stored } = left(TRANSFER);
  assert.equal(stored.runAfterMs, NOON_MS + WARM_TRANSFER_MAX_MS);
  assert.deepEqual(await run(), ORDERED);
  assert.deepEqual(asked, ["redirect CA1: result", "hang up CA2"]);
  const [note] = noted;
  assert.equal(note?.["endReason"], "transferFailed");
  assert.equal(Object(note?.["transfer"]).result, "notAccepted");
});

test("a caller of a dialplan, who asks, gets the outcome stored and no request", async () => {
  const { run, asked, noted } = left(TRANSFER, { vendor: "asterisk" });
  assert.deepEqual(await run(), { kind: "done" });
  assert.deepEqual(asked, ["hang up CA2"]);
  assert.equal(Object(noted[0]?.["transfer"]).result, "notAccepted");
});

test("a caller whose way back the vendor has refused is brought back with the outcome that is stored", async () => {
  const { run, asked, noted } = left({ ...TRANSFER, result: "busy" });
  assert.deepEqual(await run(), ORDERED);
  assert.deepEqual(asked, ["redirect CA1: result", "hang up CA2"]);
  assert.deepEqual(noted, []);
});

test("a caller whose outcome is stored may be on the way back, and is left alone at the first try", async () => {
  const { run, asked } = left({ ...TRANSFER, result: "busy" }, { attempts: 1 });
  assert.equal((await run()).kind, "retry");
  assert.deepEqual(asked, []);
});

test("a person whose telephone cannot be hung up keeps no caller on hold", async () => {
  const { run, asked } = left(TRANSFER, { hangUpFails: true });
  assert.deepEqual(await run(), ORDERED);
  assert.deepEqual(asked, ["redirect CA1: result", "hang up CA2"]);
});

test("a caller who has hung up on hold needs nothing more", async () => {
  assert.deepEqual(await left(TRANSFER, { isOver: true }).run(), { kind: "done" });
});

test("a caller whose transfer left no note is brought back", async () => {
  const { run, asked } = left(undefined);
  assert.deepEqual(await run(), ORDERED);
  assert.deepEqual(asked, ["redirect CA1: result"]);
});

test("a caller who was accepted and not joined is brought back", async () => {
  const { run, asked } = left({ ...TRANSFER, result: "answered" });
  assert.deepEqual(await run(), ORDERED);
  assert.deepEqual(asked, ["look at CA2", "redirect CA1: result", "hang up CA2"]);
});

test("a caller who talks to the person is left alone, as long as the person is there", async () => {
  const { run, asked } = left({ ...TRANSFER, result: "answered" }, { isTalking: true });
  assert.deepEqual(await run(), { kind: "again", afterMs: 5 * 60_000 });
  assert.deepEqual(asked, ["look at CA2"]);
});

test("a caller whose process died when it put the caller on hold is brought back", async () => {
  const { run, asked } = left({ ...TRANSFER, isOnHold: true }, { status: "active" });
  assert.deepEqual(await run(), ORDERED);
  assert.deepEqual(asked, ["redirect CA1: result", "hang up CA2"]);
});

test("a caller whom a late order took out of the next session is brought back", async () => {
  const next = callRecord({
    id: "next",
    status: "completed",
    metadata: { endReason: "callerLeft" },
  });
  const { run, asked } = left({ ...TRANSFER, result: "failed" }, { next });
  assert.deepEqual(await run(), ORDERED);
  assert.deepEqual(asked, ["redirect CA1: result", "hang up CA2"]);
});

test("a caller is not brought back before the server answers requests", async () => {
  const { run, asked, noted } = left(TRANSFER, { isStarting: true });
  assert.equal((await run()).kind, "again");
  assert.deepEqual([asked, noted], [[], []]);
});

test("a caller whose outcome was stored with the job is brought back at the first try", async () => {
  const busy = { ...TRANSFER, result: "busy" };
  const { run, asked } = left(busy, { attempts: 1, isReturnDue: true });
  assert.deepEqual(await run(), ORDERED);
  assert.deepEqual(asked, ["redirect CA1: result", "hang up CA2"]);
});

test("a caller whom no way back reaches is hung up by the last try, before the limit of a hold", async () => {
  const { run, job, asked, stored } = left({ ...TRANSFER, isOnHold: true });
  let onHoldMs = stored.runAfterMs - NOON_MS;
  for (let tries = 1; tries < job.triesMax; tries += 1) {
    const outcome = await run(tries);
    assert.ok(outcome.kind === "retry");
    onHoldMs += Math.max(job.delayMs(tries), outcome.afterMs ?? 0);
  }
  const before = asked.length;
  assert.deepEqual(await run(job.triesMax), { kind: "done" });
  assert.deepEqual(asked.slice(before), ["hang up CA1", "hang up CA2"]);
  assert.ok(onHoldMs < ON_HOLD_MAX_MS, String(onHoldMs));
});

test("two who talk are not hung up by the last try", async () => {
  const { run, job, asked } = left({ ...TRANSFER, result: "answered" }, { isTalking: true });
  assert.equal((await run(job.triesMax)).kind, "again");
  assert.deepEqual(asked, ["look at CA2"]);
});

test("a caller on hold whose server died after the outcome is brought back when the call is known to have ended", async () => {
  const failed = { ...TRANSFER, result: "busy", isOnHold: true };
  const { run, job, asked } = left(failed, { status: "active", isReturnDue: true });
  assert.equal((await run(1)).kind, "retry");
  assert.deepEqual(await run(job.triesMax), { kind: "done" }, "the caller stayed with the agent");
  assert.deepEqual(asked, []);
});

test("a vendor that is away is asked again later", async () => {
  assert.equal((await left(TRANSFER, { fails: true }).run()).kind, "retry");
});

const NOTHING_TO_DO: readonly (readonly [string, JsonObject | undefined, Options?])[] = [
  ["is back with the agent", TRANSFER, { next: NEXT }],
  ["was never put on hold", undefined, { status: "active" }],
  ["stayed with the agent", { ...TRANSFER, result: "failed" }, { status: "active" }],
  ["was put on hold by a later attempt", { ...TRANSFER, startedAtMs: NOON_MS + 1 }],
  ["was handed on without a question", { ...TRANSFER, mode: "blind" }],
];
for (const [who, transfer, options] of NOTHING_TO_DO) {
  test(`a caller who ${who} is left alone`, async () => {
    const { run, asked, noted } = left(transfer, options);
    assert.deepEqual(await run(), { kind: "done" });
    assert.deepEqual([asked, noted], [[], []]);
  });
}
