import * as v from "valibot";
import type { CallStore } from "../../storage/calls/call-store.js";
import type { ClaimedJob } from "../../storage/jobs/job-record.js";
import type { CallRecord, JsonObject } from "../../storage/records.js";
import { CALLER_LEFT } from "../conversation/call-end.js";
import { type FixedLimits, FixedLimitsJob, type JobOutcome } from "../jobs/job-runner.js";
import type { Logger } from "../log.js";
import {
  type CallControlApis,
  canTransferWarmly,
  type WarmTransferApi,
} from "../telephony/call-control.js";
import type { WarmTransferDocuments } from "../telephony/call-instructions.js";
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
} from "./transfer-record.js";

/**
 * Callers who wait are few, and the vendor may be away for a while. The last try hangs the caller up: with the time that a transfer
 * may take, no one is on hold for longer than `ON_HOLD_MAX_MS`.
 */
const LIMITS: FixedLimits = {
  runningMax: 8,
  runningPerQueueMax: 4,
  delaysMs: [2_000, 10_000, 30_000, 60_000, 2 * 60_000],
};

/** A caller whose outcome has just been stored is back within this time. */
export const RETURN_MAX_MS = 15_000;

/** By then a caller without a person is back or hung up, where a server of the database runs and the vendor answers. */
export const ON_HOLD_MAX_MS = 10 * 60 * 1_000;

/** How often it is checked whether two who talk still do: a caller whose person has gone may never have been joined. */
const TALK_CHECK_MS = 5 * 60 * 1_000;
const STARTING_CHECK_MS = 1_000;

const Payload = v.object({
  callId: v.string(),
  startedAtMs: v.number(),
  nextSessionId: v.string(),
  vendor: v.string(),
  callerRef: v.string(),
  ownAccount: v.boolean(),
  resultUrl: v.string(),
  /** The outcome was stored long enough ago for a caller to be back. Absent from jobs of earlier releases. */
  isReturnDue: v.optional(v.boolean(), false),
});

type Payload = v.InferOutput<typeof Payload>;

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
 * it has died, or the vendor's report never arrived, or the vendor has not done what REST has ordered. It is done only when the
 * caller is with the agent or gone.
 */
export class WarmTransferJob extends FixedLimitsJob {
  readonly #options: WarmTransferJobOptions;

  constructor(options: WarmTransferJobOptions) {
    super(LIMITS);
    this.#options = options;
  }

  override async run({ orgId, payload, attempts }: ClaimedJob): Promise<JobOutcome> {
    const { calls, apis, isListening } = this.#options;
    if (!isListening()) return { kind: "again", afterMs: STARTING_CHECK_MS };
    const given = v.parse(Payload, payload);
    const { callId, nextSessionId, vendor, ownAccount, isReturnDue } = given;
    const isLastTry = attempts >= this.triesMax;
    const call = await calls.findById(orgId, callId);
    if (call === undefined) return { kind: "done" };
    const transfer = transferOf(call);
    // A later transfer of the call has a job of its own. One whose note is lost counts as failed.
    const isOurs = transfer?.mode === "warm" && transfer.startedAtMs === given.startedAtMs;
    if (transfer !== undefined && !isOurs) return { kind: "done" };
    if (call.status === "active") {
      // The caller is with the agent, unless the process of the call died when it had put the caller on hold.
      if (transfer?.isOnHold !== true) return { kind: "done" };
      if (!isUndisputed(transfer))
        return isLastTry ? { kind: "done" } : retry("the end of the call may not be stored yet");
    }
    const next = await calls.findBySession(orgId, nextSessionId);
    if (next !== undefined && !maybeOnHold(next)) return { kind: "done" };
    const documents = phoneVendor(vendor)?.documents.warmTransfer;
    const api = await apis.of({ vendor, orgId, ownAccount });
    if (documents === undefined || api === undefined || !canTransferWarmly(api))
      return { kind: "failed", error: "the account cannot bring callers back any more" };
    try {
      if (transfer !== undefined && isOpenTransfer(transfer)) {
        if (!(await this.#noteNotAccepted(call, transfer)))
          return retry("the transfer has got its outcome meanwhile");
      } else if (attempts === 1 && !isReturnDue) {
        const error = "the transfer has its outcome, and the caller may be on the way back";
        return { ...retry(error), afterMs: RETURN_MAX_MS };
      } else if (transfer?.result === "answered" && transfer.personCallId !== "") {
        if (await api.isLive(transfer.personCallId))
          return { kind: "again", afterMs: TALK_CHECK_MS };
      }
      const returning = { ...given, orgId, api, documents, transfer };
      // A caller who asks what follows needs no request, and is back a second after the outcome is stored.
      if (documents.joinCaller !== undefined) {
        await this.#hangUpPerson(returning);
        return { kind: "done" };
      }
      return await (isLastTry ? this.#giveUp(returning) : this.#sendBack(returning));
    } catch (error) {
      if (!(error instanceof VendorError)) throw error;
      return retry(`the telephony vendor failed: ${error.fault}`);
    }
  }

  /** False if there is another outcome. */
  #noteNotAccepted(call: CallRecord, transfer: StoredTransfer): Promise<boolean> {
    const { calls, clock } = this.#options;
    const report = { result: "notAccepted", reason: "", durationSec: undefined } as const;
    const isOpen = (metadata: JsonObject) => isOpenSince(metadata, transfer.startedAtMs);
    const { to, startedAtMs } = transfer;
    const outcome = { to, mode: "warm", startedAtMs, result: report.result } as const;
    const event = transferCompletedEvent(call, outcome, clock.epochMs());
    return calls.annotateIf(call.id, isOpen, transferNote(call, report), event);
  }

  /** The vendor may do it late, or do something else first: the next try finds the caller with the agent, or repeats it. */
  async #sendBack(returning: Returning): Promise<JobOutcome> {
    const { orgId, vendor, callId, callerRef, resultUrl, api, documents, transfer } = returning;
    const { calls, log } = this.#options;
    if (documents.interrupted !== undefined && transfer !== undefined)
      await calls.annotate(callId, { transfer: { isSentBack: true } });
    const next = { document: documents.goOn(resultUrl), url: resultUrl };
    const isBack = await api.redirect(callerRef, next);
    await this.#hangUpPerson(returning);
    if (!isBack) return { kind: "done" };
    log.warn({ vendor, orgId, callId }, "a caller on hold was brought back by the job");
    return { ...retry("the caller is not known to be back yet"), afterMs: RETURN_MAX_MS };
  }

  /** No way back has reached the caller, who would hear music without end. */
  async #giveUp(returning: Returning): Promise<JobOutcome> {
    const { orgId, vendor, callId, callerRef, api } = returning;
    await api.hangUp(callerRef);
    await this.#hangUpPerson(returning);
    const words = "a caller on hold could not be brought back, and was hung up";
    this.#options.log.error({ vendor, orgId, callId }, words);
    return { kind: "done" };
  }

  /** A failure is not worth another try. */
  async #hangUpPerson({ api, transfer, vendor, orgId, callId }: Returning): Promise<void> {
    const personCallId = transfer?.personCallId ?? "";
    if (personCallId === "") return;
    try {
      await api.hangUp(personCallId, "ringingOrAnswered");
    } catch (error) {
      const words = "failed to hang up the person of a warm transfer";
      this.#options.log.error({ vendor, orgId, callId, error }, words);
    }
  }
}

interface Returning extends Payload {
  readonly orgId: string;
  readonly api: WarmTransferApi;
  readonly documents: WarmTransferDocuments;
  readonly transfer: StoredTransfer | undefined;
}

function retry(error: string) {
  return { kind: "retry", error } as const;
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
