import * as v from "valibot";
import type { CallStore } from "../../storage/calls/call-store.js";
import type { ClaimedJob } from "../../storage/jobs/job-record.js";
import type { CallRecord, JsonObject } from "../../storage/records.js";
import { CALLER_LEFT } from "../conversation/call-end.js";
import { type FixedLimits, FixedLimitsJob, type JobOutcome } from "../jobs/job-runner.js";
import type { Logger } from "../log.js";
import {
  type CallControlApi,
  type CallControlApis,
  canTransferWarmly,
} from "../telephony/call-control.js";
import { phoneVendor } from "../telephony/phone-vendors.js";
import type { Clock } from "../time/clock.js";
import { VendorError } from "../vendors/contracts.js";
import { transferCompletedEvent } from "./call-stream.js";
import {
  isOpenSince,
  isOpenTransfer,
  type StoredTransfer,
  transferNote,
  transferOf,
} from "./continuations.js";

/** Callers who wait are few, and the vendor may be away for a while. */
const LIMITS: FixedLimits = {
  runningMax: 8,
  runningPerQueueMax: 4,
  delaysMs: [2_000, 10_000, 30_000, 60_000, 5 * 60_000],
};

/** A caller whose outcome has just been stored is back within this time. */
export const RETURN_MAX_MS = 15_000;

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
  readonly calls: Pick<CallStore, "findById" | "findBySession" | "annotate" | "annotateIf">;
  readonly apis: CallControlApis;
  /** Whether the server answers requests: the vendor asks for the caller's next document at once. */
  readonly isListening: () => boolean;
  readonly clock: Pick<Clock, "epochMs">;
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

  override async run({ orgId, payload, attempts }: ClaimedJob): Promise<JobOutcome> {
    const { calls, apis, isListening, clock, log } = this.#options;
    if (!isListening()) return { kind: "retry", error: "the server is starting" };
    const given = v.parse(Payload, payload);
    const { callId, nextSessionId, vendor, callerRef, ownAccount, resultUrl } = given;
    const call = await calls.findById(orgId, callId);
    if (call === undefined) return { kind: "done" };
    const transfer = transferOf(call);
    // The caller is with the agent, unless the process of the call died when it had put the caller on hold.
    const isLeftOnHold = transfer?.isOnHold === true && isUndisputed(transfer);
    if (call.status === "active" && !isLeftOnHold) return { kind: "done" };
    // A later transfer of the call has a job of its own. One whose note is lost counts as failed.
    const isOurs = transfer?.mode === "warm" && transfer.startedAtMs === given.startedAtMs;
    if (transfer !== undefined && !isOurs) return { kind: "done" };
    const next = await calls.findBySession(orgId, nextSessionId);
    if (next !== undefined && !maybeOnHold(next)) return { kind: "done" };
    const documents = phoneVendor(vendor)?.documents.warmTransfer;
    const api = await apis.of({ vendor, orgId, ownAccount });
    if (documents === undefined || api === undefined || !canTransferWarmly(api))
      return { kind: "failed", error: "the account cannot bring callers back any more" };
    const personCallId = transfer?.personCallId ?? "";
    try {
      if (transfer !== undefined && isOpenTransfer(transfer)) {
        const report = { result: "notAccepted", reason: "", durationSec: undefined } as const;
        const isOpen = (metadata: JsonObject) => isOpenSince(metadata, given.startedAtMs);
        const outcome = { ...transfer, result: report.result };
        const event = transferCompletedEvent(call, outcome, clock.epochMs());
        if (!(await calls.annotateIf(callId, isOpen, transferNote(call, report), event)))
          return { kind: "retry", error: "the transfer has got its outcome meanwhile" };
      } else if (attempts === 1) {
        const error = "the transfer has its outcome, and the caller may be on the way back";
        return { kind: "retry", error, afterMs: RETURN_MAX_MS };
      } else if (transfer?.result === "answered" && personCallId !== "") {
        // The two talk.
        if (await api.isLive(personCallId)) return { kind: "done" };
      }
      if (documents.interrupted !== undefined && transfer !== undefined)
        await calls.annotate(callId, { transfer: { isSentBack: true } });
      const next = { document: documents.goOn(resultUrl), url: resultUrl };
      // A caller who asks what follows needs no request, and is back a second after the outcome is stored.
      const mustOrder = documents.joinCaller === undefined;
      const isBack = mustOrder && (await api.redirect(callerRef, next));
      if (isBack)
        log.warn({ vendor, orgId, callId }, "a caller on hold was brought back by the job");
      if (personCallId !== "") await this.#hangUp(api, personCallId, { vendor, orgId, callId });
      return { kind: "done" };
    } catch (error) {
      if (!(error instanceof VendorError)) throw error;
      return { kind: "retry", error: `the telephony vendor failed: ${error.fault}` };
    }
  }

  /** The caller is back already, so that a failure is not worth another try. */
  async #hangUp(
    api: CallControlApi,
    personCallId: string,
    facts: { readonly vendor: string; readonly orgId: string; readonly callId: string },
  ): Promise<void> {
    try {
      await api.hangUp(personCallId, "ringingOrAnswered");
    } catch (error) {
      this.#options.log.error(
        { ...facts, error },
        "failed to hang up the person of a warm transfer",
      );
    }
  }
}

/**
 * The stream of a caller who was back with the agent closes when a late order puts the caller on hold again, which looks as if the
 * caller had left.
 */
export function maybeOnHold({ status, metadata }: CallRecord): boolean {
  const isOver = status !== "active" && metadata["endReason"] === CALLER_LEFT.reason;
  return isOver && metadata["continuedBy"] === undefined;
}

/** Whether nothing says that the transfer has failed. */
function isUndisputed(transfer: StoredTransfer): boolean {
  return isOpenTransfer(transfer) || transfer.result === "answered";
}
