import * as v from "valibot";
import type { CallStore } from "../../storage/calls/call-store.js";
import type { CallRecord, JsonObject } from "../../storage/records.js";
import { CALLER_LEFT, type EndReason } from "../conversation/call-end.js";
import { SignedIds } from "../security/signed-ids.js";
import type { StreamClaims } from "../security/stream-token.js";
import {
  TRANSFER_RESULTS,
  type TransferReport,
  type TransferResult,
} from "../telephony/transfer-report.js";
import type { Clock } from "../time/clock.js";
import { within } from "../time/deadline.js";
import { isBrokenOff, onceEnded } from "./broken-call.js";
import type { CallJournal } from "./call-journal.js";
import type { LiveCalls } from "./live-calls.js";

/** Telephony vendors end calls after 24 hours. */
const TOKEN_LIFETIME_MS = 24 * 60 * 60 * 1_000;
const KEY_LABEL = "parley: continued call, version 1";
/** The outcome of a transfer is stored within milliseconds; a store that takes longer lets the caller go on. */
const OUTCOME_STORED_MAX_MS = 1_000;
/** A call that breaks again and again is over. */
const CONTINUATIONS_MAX = 3;
/** How often an agent gets its caller back from a failed transfer; then it gets no transfer tool any more. */
export const FAILED_TRANSFERS_MAX = 5;
/** What makes the token of a transfer's outcome another than that of a stream's. */
const TRANSFER = "transfer";
/** What a token says of a dialplan that dials transfers. */
const DIALS = "dials";
/** What a token says of a call that the organization's own account carries. */
const OWN_ACCOUNT = "own";
const PLACED = "placed:";
const UNSUPPORTED_AUDIO: EndReason = "unsupportedAudio";
const TRANSFERRED: EndReason = "transferred";
/** Stands in the metadata of a call whose transfer reached nobody, in place of `transferred`. */
export const TRANSFER_FAILED = "transferFailed";

/** The key of a call that was placed from here, whose first session is named by the call's id. */
export function placedCallKey(callId: string): string {
  return `${PLACED}${callId}`;
}

/** The call that was placed from here under that key; undefined for one that came in. */
export function placedCallOf(callKey: string): string | undefined {
  return callKey.startsWith(PLACED) ? callKey.slice(PLACED.length) : undefined;
}

/** `pending`: the vendor has not reported yet. */
const StoredTransfer = v.object({
  to: v.string(),
  result: v.picklist(["pending", "dialing", ...TRANSFER_RESULTS]),
});

function transferOf({ metadata }: CallRecord): v.InferOutput<typeof StoredTransfer> | undefined {
  const stored = v.safeParse(StoredTransfer, metadata["transfer"]);
  return stored.success ? stored.output : undefined;
}

/** Why a call's transfer failed; undefined if there was none, or if it succeeded. */
export function failedTransferOf(call: CallRecord): TransferResult | undefined {
  const result = transferOf(call)?.result;
  if (result === undefined || result === "answered") return undefined;
  return result === "pending" || result === "dialing" ? "failed" : result;
}

const TRANSFER_WORDS: Readonly<Record<Exclude<TransferResult, "answered">, string>> = {
  busy: "the line was busy",
  noAnswer: "nobody answered",
  rejected: "the call was rejected",
  failed: "the telephony vendor could not connect it",
  canceled: "it was canceled while it rang",
};

/** The conversation that a telephone call has, under ids that follow from the call's key. */
export interface PhoneConversation {
  readonly sessionId: string;
  readonly historyKey: string;
  /** The sessions before this one, which broke, the last one first; what died before it was stored has no record. */
  readonly before: readonly string[];
}

/**
 * `askedAgain`: of the stream there is no record, since it reached nobody, or a process that died before the call began, or it
 * was refused.
 */
export type NextStream =
  | { readonly kind: "goesOn"; readonly claims: StreamClaims }
  | {
      readonly kind: "askedAgain";
      readonly claims: StreamClaims;
      /** The call was placed from here, and may still wait for its stream. */
      readonly placedCallId?: string;
    }
  /** The caller is to be handed on by the document that answers. */
  | { readonly kind: "transfer"; readonly to: string; readonly call: CallRecord }
  /** The caller is told that the call's audio cannot be decoded here. */
  | { readonly kind: "unsupportedAudio" }
  | { readonly kind: "over" };

export interface ContinuationsOptions {
  readonly secret: string;
  readonly clock: Clock;
  readonly calls: Pick<CallStore, "findBySession">;
  readonly liveCalls: Pick<LiveCalls, "find">;
  readonly journal: Pick<CallJournal, "stored" | "annotate">;
}

/**
 * A telephone call outlives its stream: where the vendor asks what comes next, a caller whose stream broke gets another, in
 * the same conversation. The ids of its sessions follow from the call's key, so that any server of this database can tell.
 */
export class Continuations {
  readonly #options: ContinuationsOptions;
  readonly #ids: SignedIds;

  constructor(options: ContinuationsOptions) {
    const { secret, clock } = options;
    this.#options = options;
    const lifetimeMs = TOKEN_LIFETIME_MS;
    this.#ids = new SignedIds({ secret, label: KEY_LABEL, lifetimeMs, clock });
  }

  /** False for a call that broke too often. */
  mayGoOn({ attempt, failedTransfers = 0 }: StreamClaims): boolean {
    return attempt - failedTransfers < CONTINUATIONS_MAX;
  }

  /** False for a call whose transfers failed too often. */
  mayTransfer({ failedTransfers = 0 }: StreamClaims): boolean {
    return failedTransfers < FAILED_TRANSFERS_MAX;
  }

  /** What the vendor asks with when the stream has ended; undefined for a call that may not go on. */
  tokenFor(claims: StreamClaims): string | undefined {
    return this.mayGoOn(claims) ? this.#ids.mint(idsOf(claims)) : undefined;
  }

  /** What the vendor asks with when the leg of a transfer is over. */
  transferTokenFor(claims: StreamClaims): string {
    return this.#ids.mint([...idsOf(claims), TRANSFER]);
  }

  /** Names a call that was turned away as soon as it came; undefined where its vendor does not name it. */
  refusedCallId({
    vendor,
    orgId,
    callerRef,
  }: Pick<StreamClaims, "vendor" | "orgId" | "callerRef">): string | undefined {
    return callerRef === "" ? undefined : this.#ids.uuidOf(["refused", vendor, orgId, callerRef]);
  }

  conversationOf({ callKey, attempt }: StreamClaims): PhoneConversation {
    const sessions = Array.from({ length: attempt }, (_, n) => this.#sessionId(callKey, n));
    return {
      sessionId: this.#sessionId(callKey, attempt),
      historyKey: this.#ids.uuidOf([callKey]),
      before: sessions.reverse(),
    };
  }

  /** Whose stream it was; undefined for a token that is not good. */
  claimsOf(token: string): StreamClaims | undefined {
    const ids = this.#ids.verify(token);
    return ids === undefined || ids.at(-1) === TRANSFER ? undefined : claimsIn(ids);
  }

  /** Whose transfer it was; undefined for a token that is not good. */
  transferClaimsOf(token: string): StreamClaims | undefined {
    const ids = this.#ids.verify(token);
    return ids?.at(-1) === TRANSFER ? claimsIn(ids) : undefined;
  }

  /** What comes after a stream whose caller is still there; `byDocument`: a transfer is made by what answers now. */
  async next(claims: StreamClaims, byDocument = false): Promise<NextStream> {
    const call = await this.#settled(claims);
    const next = { ...claims, attempt: claims.attempt + 1 };
    if (call === undefined) {
      const placedCallId = placedCallOf(claims.callKey);
      const again = { kind: "askedAgain", claims: next } as const;
      return placedCallId === undefined ? again : { ...again, placedCallId };
    }
    const transfer = byDocument ? transferOf(call) : undefined;
    if (transfer?.result === "pending") {
      this.#options.journal.annotate(call.id, { transfer: { result: "dialing" } });
      return { kind: "transfer", to: transfer.to, call };
    }
    // The vendor repeats a request: the answer may place a call, which must not happen twice.
    if (transfer?.result === "dialing") return { kind: "goesOn", claims: afterTransfer(claims) };
    if (call.metadata["endReason"] === UNSUPPORTED_AUDIO) return { kind: "unsupportedAudio" };
    return isBrokenOff(call) ? { kind: "goesOn", claims: next } : { kind: "over" };
  }

  /**
   * The leg of a transfer has ended, or never existed: its outcome is stored with the call, and after a failed transfer
   * the caller returns to the agent. The first outcome counts, however often and late the vendor reports; `report` is
   * undefined if it asks without one.
   */
  async afterTransfer(
    claims: StreamClaims,
    report: TransferReport | undefined,
    isCallerWaiting: boolean,
  ): Promise<NextStream> {
    const { calls } = this.#options;
    const call = await this.#settled(claims);
    if (call === undefined) return { kind: "over" };
    const known = transferOf(call)?.result;
    const isOpen = known === undefined || known === "pending" || known === "dialing";
    if (isOpen && (report !== undefined || isCallerWaiting)) {
      this.#note(call, report ?? { result: "failed", reason: "", durationSec: undefined });
    } else if (known === "answered" && report?.result === "answered") this.#note(call, report);
    const result = isOpen ? report?.result : known;
    if (!isCallerWaiting || result === "answered") return { kind: "over" };
    const next = afterTransfer(claims);
    const nextSession = this.#sessionId(next.callKey, next.attempt);
    const isThere = (await calls.findBySession(next.orgId, nextSession)) !== undefined;
    return isThere ? { kind: "over" } : { kind: "goesOn", claims: next };
  }

  /** Resolves when the outcome of a transfer can be read by whoever gets its caller. */
  stored(): Promise<unknown> {
    const { clock, journal } = this.#options;
    return within(clock, OUTCOME_STORED_MAX_MS, journal.stored());
  }

  #note(call: CallRecord, { result, reason, durationSec }: TransferReport): void {
    const transfer = { result, reason, ...(durationSec !== undefined && { durationSec }) };
    const wasTransferred = call.metadata["endReason"] === TRANSFERRED;
    const ending: JsonObject =
      result === "answered" || !wasTransferred
        ? {}
        : {
            endReason: TRANSFER_FAILED,
            endMessage: `the caller was not transferred: ${TRANSFER_WORDS[result]}`,
          };
    this.#options.journal.annotate(call.id, { transfer, ...ending });
  }

  /** The call, once its end is stored; one that still lives has lost its stream without noticing. */
  async #settled({ orgId, callKey, attempt }: StreamClaims): Promise<CallRecord | undefined> {
    const { calls, liveCalls, journal, clock } = this.#options;
    const placedCallId = placedCallOf(callKey);
    const find = async () => {
      const own = await calls.findBySession(orgId, this.#sessionId(callKey, attempt));
      // A stream that was asked for again is the placed call's first session, too.
      if (own !== undefined || placedCallId === undefined || attempt === 0) return own;
      return calls.findBySession(orgId, placedCallId);
    };
    const call = await find();
    if (call?.status !== "active") return call;
    liveCalls.find(call.id)?.end(CALLER_LEFT);
    return onceEnded(find, journal, clock);
  }

  #sessionId(callKey: string, attempt: number): string {
    const placedCallId = attempt === 0 ? placedCallOf(callKey) : undefined;
    return placedCallId ?? this.#ids.uuidOf([callKey, String(attempt)]);
  }
}

function idsOf(claims: StreamClaims): readonly string[] {
  const { vendor, orgId, agentId, callerRef, callKey, attempt, failedTransfers = 0 } = claims;
  const ids = [vendor, orgId, agentId, callerRef, callKey];
  const dials = claims.dialsTransfers === true ? [DIALS] : [];
  const own = claims.ownAccount === true ? [OWN_ACCOUNT] : [];
  return [...ids, String(attempt), String(failedTransfers), ...dials, ...own];
}

function claimsIn(ids: readonly string[]): StreamClaims {
  const [vendor = "", orgId = "", agentId = "", callerRef = "", callKey = ""] = ids;
  const claims = { vendor, orgId, agentId, callerRef, callKey, attempt: Number(ids[5]) };
  const failedTransfers = Number(ids[6] ?? 0);
  return {
    ...claims,
    ...(failedTransfers !== 0 && { failedTransfers }),
    ...(ids[7] === DIALS && { dialsTransfers: true }),
    ...(ids.slice(7).includes(OWN_ACCOUNT) && { ownAccount: true }),
  };
}

function afterTransfer(claims: StreamClaims): StreamClaims {
  const { attempt, failedTransfers = 0 } = claims;
  return { ...claims, attempt: attempt + 1, failedTransfers: failedTransfers + 1 };
}
