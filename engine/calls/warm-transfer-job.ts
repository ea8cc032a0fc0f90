import * as v from "valibot";
import type { CallStore } from "../../storage/calls/call-store.js";
import type { ClaimedJob } from "../../storage/jobs/job-record.js";
import { type FixedLimits, FixedLimitsJob, type JobOutcome } from "../jobs/job-runner.js";
import type { Logger } from "../log.js";
import { type CallControlApis, canTransferWarmly } from "../telephony/call-control.js";
import { phoneVendor } from "../telephony/phone-vendors.js";
import { unlessOver } from "../telephony/telephony-request.js";
import { VendorError } from "../vendors/contracts.js";
import { isOpenTransfer, transferNote, transferOf } from "./continuations.js";

/** Callers who wait are few, and the vendor may be away for a while. */
const LIMITS: FixedLimits = {
  runningMax: 8,
  runningPerQueueMax: 4,
  delaysMs: [2_000, 10_000, 30_000, 60_000, 5 * 60_000],
};

const Payload = v.object({
  callId: v.string(),
  startedAtMs: v.number(),
  nextSessionId: v.string(),
  vendor: v.string(),
  callerRef: v.string(),
  ownAccount: v.boolean(),
  resultUrl: v.string(),
});

export interface WarmTransferJobOptions {
  readonly calls: Pick<CallStore, "findById" | "findBySession" | "annotate">;
  readonly apis: CallControlApis;
  /** Whether the server answers requests: the vendor asks for the caller's next document at once. */
  readonly isListening: () => boolean;
  readonly log: Logger;
}

/**
 * Brings a caller back to the agent who is still on hold when a warm transfer should have its outcome: the server that was to do
 * it has died, or the vendor's report never arrived.
 */
export class WarmTransferJob extends FixedLimitsJob {
  readonly #options: WarmTransferJobOptions;

  constructor(options: WarmTransferJobOptions) {
    super(LIMITS);
    this.#options = options;
  }

  override async run({ orgId, payload }: ClaimedJob): Promise<JobOutcome> {
    const { calls, apis, isListening, log } = this.#options;
    if (!isListening()) return { kind: "retry", error: "the server is starting" };
    const given = v.parse(Payload, payload);
    const { callId, nextSessionId, vendor, callerRef, ownAccount, resultUrl } = given;
    const call = await calls.findById(orgId, callId);
    const transfer = call && transferOf(call);
    if (call === undefined || transfer?.mode !== "warm" || transfer.result === "answered")
      return { kind: "done" };
    // The first try was refused, and the agent has tried again.
    if (transfer.startedAtMs !== given.startedAtMs) return { kind: "done" };
    if ((await calls.findBySession(orgId, nextSessionId)) !== undefined) return { kind: "done" };
    if (isOpenTransfer(transfer)) {
      const report = { result: "notAccepted", reason: "", durationSec: undefined } as const;
      await calls.annotate(callId, transferNote(call, report));
    }
    const documents = phoneVendor(vendor)?.documents.warmTransfer;
    const api = await apis.of({ vendor, orgId, ownAccount });
    if (documents === undefined || api === undefined || !canTransferWarmly(api))
      return { kind: "failed", error: "the account cannot bring callers back any more" };
    try {
      if (transfer.personCallId !== "") await api.hangUp(transfer.personCallId);
      await unlessOver(api.redirect(callerRef, documents.goOn(resultUrl)));
      log.warn({ vendor, orgId, callId }, "a caller on hold was brought back by the job");
      return { kind: "done" };
    } catch (error) {
      if (!(error instanceof VendorError)) throw error;
      return { kind: "retry", error: `the telephony vendor failed: ${error.fault}` };
    }
  }
}
