/** What the record of a call says of its transfer: `metadata.transfer`. */

import * as v from "valibot";
import type { CallRecord, JsonObject } from "../../storage/records.js";
import type { EndReason } from "../conversation/call-end.js";
import {
  TRANSFER_RESULTS,
  type TransferReport,
  type TransferResult,
} from "../telephony/transfer-report.js";

const TRANSFERRED: EndReason = "transferred";
/** A metadata field of a call whose transfer failed, instead of `transferred`. */
export const TRANSFER_FAILED = "transferFailed";

export const ENDED_BY_TRANSFER: ReadonlySet<string> = new Set([TRANSFERRED, TRANSFER_FAILED]);

const OPEN_RESULTS = ["pending", "dialing", "unknown"] as const;

/**
 * `pending`: the vendor has not reported yet. `unknown`: nor has it, and the server that was about to order the transfer has died.
 * A warm transfer also has what the person hears, the vendor's id of the person's call, and when it began.
 */
const StoredTransfer = v.object({
  to: v.string(),
  result: v.picklist([...OPEN_RESULTS, ...TRANSFER_RESULTS]),
  mode: v.optional(v.picklist(["blind", "warm"]), "blind"),
  summary: v.optional(v.string(), ""),
  personCallId: v.optional(v.string(), ""),
  /** The vendor has heard a machine in the person's call. */
  answeredBy: v.optional(v.string(), ""),
  startedAtMs: v.optional(v.number(), 0),
  /** The vendor has been asked, or is about to be, to put the caller on hold. */
  isOnHold: v.optional(v.boolean(), false),
  /** The vendor has been asked, or is about to be, to bring the caller back. Only at vendors with a document for that. */
  isSentBack: v.optional(v.boolean(), false),
  /** What the person of a blind transfer is to see, as the tool or the request names it. */
  callerId: v.optional(v.string()),
  /** A blind transfer that was not made: the caller stayed with the agent. */
  isRefused: v.optional(v.boolean(), false),
  /** The caller on hold has asked what follows, at a vendor whose callers do. */
  isAsking: v.optional(v.boolean(), false),
});

/** A second transfer in a call has none of these of the first. */
export const NOTHING_OF_EARLIER = {
  personCallId: null,
  isOnHold: null,
  acceptedBy: null,
  waitedSec: null,
  isSentBack: null,
  isRefused: null,
  isAsking: null,
  reason: null,
  durationSec: null,
  answeredBy: null,
} as const satisfies JsonObject;

export type StoredTransfer = v.InferOutput<typeof StoredTransfer>;

export function transferOf({ metadata }: Pick<CallRecord, "metadata">): StoredTransfer | undefined {
  const stored = v.safeParse(StoredTransfer, metadata["transfer"]);
  return stored.success ? stored.output : undefined;
}

/** Whether the person has neither accepted nor has the transfer failed. */
export function isOpenTransfer({ result }: Pick<StoredTransfer, "result">): boolean {
  return outcomeOf(result) === undefined;
}

function outcomeOf(result: StoredTransfer["result"]): TransferResult | undefined {
  return result === "pending" || result === "dialing" || result === "unknown" ? undefined : result;
}

/** What a call's record says of a transfer that has its outcome. */
export function transferNote(
  call: Pick<CallRecord, "metadata">,
  report: TransferReport,
): JsonObject {
  const { result, reason, durationSec } = report;
  const transfer = { result, reason, ...(durationSec !== undefined && { durationSec }) };
  return { transfer, ...endingNote(call, result) };
}

/** The end of a call whose transfer has this outcome; nothing where its record says that already. */
export function endingNote(
  { metadata }: Pick<CallRecord, "metadata">,
  result: StoredTransfer["result"],
): JsonObject {
  const outcome = outcomeOf(result);
  const wasTransferred = metadata["endReason"] === TRANSFERRED;
  if (outcome === undefined || outcome === "answered" || !wasTransferred) return {};
  const endMessage = `the caller was not transferred: ${TRANSFER_WORDS[outcome]}`;
  return { endReason: TRANSFER_FAILED, endMessage };
}

/** Whether the vendor has already reported what became of the blind transfer that the call ends with. */
export function isReportedBlind(metadata: JsonObject): boolean {
  const transfer = transferOf({ metadata });
  if (transfer === undefined || transfer.mode === "warm" || transfer.isRefused) return false;
  return !isOpenTransfer(transfer);
}

/**
 * What the end of a call with a blind transfer adds to its stored metadata. The vendor may have reported the outcome before: it stays,
 * and says whether the caller was transferred.
 */
export function blindTransferAtEnd(
  stored: JsonObject,
  { to, callerId = null }: { readonly to: string; readonly callerId?: string | null | undefined },
): JsonObject {
  if (isReportedBlind(stored)) {
    const ended = { metadata: { ...stored, endReason: TRANSFERRED } };
    return {
      transfer: { to, callerId },
      ...endingNote(ended, transferOf(ended)?.result ?? "pending"),
    };
  }
  const order = { mode: null, startedAtMs: null, to, callerId, result: "pending" };
  return { transfer: { ...NOTHING_OF_EARLIER, ...order } };
}

/** The target of a blind transfer without an outcome; undefined if the call has none. */
export function openBlindTransferOf(call: Pick<CallRecord, "metadata">): string | undefined {
  const transfer = transferOf(call);
  return transfer?.mode === "blind" && isOpenTransfer(transfer) ? transfer.to : undefined;
}

/** Whether these metadata are of the warm transfer that began then, and it has no outcome yet. */
export function isOpenSince(metadata: JsonObject, startedAtMs: number): boolean {
  const transfer = transferOf({ metadata });
  return (
    transfer?.mode === "warm" && transfer.startedAtMs === startedAtMs && isOpenTransfer(transfer)
  );
}

/**
 * Why a call's transfer failed; undefined if there was none, or if it succeeded, or if the call went on after one that was not made.
 */
export function failedTransferOf(call: CallRecord): TransferResult | undefined {
  const { result, mode, isRefused } = transferOf(call) ?? {};
  if (result === undefined || result === "answered" || isRefused) return undefined;
  const { endReason } = call.metadata;
  if (mode === "warm" && !ENDED_BY_TRANSFER.has(String(endReason))) return undefined;
  return outcomeOf(result) ?? "failed";
}

const TRANSFER_WORDS: Readonly<Record<Exclude<TransferResult, "answered">, string>> = {
  busy: "the line was busy",
  noAnswer: "nobody answered",
  rejected: "the call was rejected",
  failed: "the telephony vendor could not connect it",
  canceled: "it was canceled while it rang",
  notAccepted: "the person did not accept it",
  machine: "an answering machine answered",
};
