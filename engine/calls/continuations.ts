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
/**
 * The outcome of a transfer is stored within milliseconds; after this time a slower store no longer delays the
 * caller.
 */
const OUTCOME_STORED_MAX_MS = 1_000;
/** A call that breaks more often is over. */
const CONTINUATIONS_MAX = 3;
/** How often a caller returns from a failed transfer to the agent; after that the agent has no transfer tool. */
export const FAILED_TRANSFERS_MAX = 5;
/** Distinguishes the token of a transfer's outcome from that of a stream. */
const TRANSFER = "transfer";
/** Marks the token of a dialplan that dials transfers. */
const DIALS = "dials";
/** What a token says of a call that the organization's own account carries. */
const OWN_ACCOUNT = "own";
const PLACED = "placed:";
const UNSUPPORTED_AUDIO: EndReason = "unsupportedAudio";
const TRANSFERRED: EndReason = "transferred";
/** A metadata field of a call whose transfer failed, instead of `transferred`. */
export const TRANSFER_FAILED = "transferFailed";

/** The key of a call that this server placed; its first session has the call's id. */
export function placedCallKey(callId: string): string {
  return `${PLACED}${callId}`;
}

/** The call that this server placed under that key; undefined for an inbound call. */
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

/** The conversation of a telephone call, with ids that follow from the call's key. */
export interface PhoneConversation {
  readonly sessionId: string;
  readonly historyKey: string;
  /** The earlier sessions, which broke, last one first; a session that died before it was stored has no record. */
  readonly before: readonly string[];
}

/**
 * `askedAgain`: the stream has no record, because it never connected, or its process died before the call began,
 * or it was refused.
 */
export type NextStream =
  | { readonly kind: "goesOn"; readonly claims: StreamClaims }
  | {
      readonly kind: "askedAgain";
      readonly claims: StreamClaims;
      /** This server placed the call, and it may still wait for its stream. */
      readonly placedCallId?: string;
    }
  /** The response document transfers the caller. */
  | { readonly kind: "transfer"; readonly to: string; readonly call: CallRecord }
  /** The caller hears that the call's audio cannot be decoded. */
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
 * A telephone call outlives its stream: when the vendor asks what comes next, a caller whose stream broke gets
 * another one, in the same conversation. The ids of its sessions follow from the call's key, so that any server of
 * this database can derive them.
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

  /** The token that the vendor returns when the stream has ended; undefined for a call that may not continue. */
  tokenFor(claims: StreamClaims): string | undefined {
    return this.mayGoOn(claims) ? this.#ids.mint(idsOf(claims)) : undefined;
  }

  /** The token that the vendor returns when the leg of a transfer is over. */
  transferTokenFor(claims: StreamClaims): string {
    return this.#ids.mint([...idsOf(claims), TRANSFER]);
  }

  /** The id of a call that was refused on arrival; undefined if its vendor does not identify it. */
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

  /** The claims of a stream's token; undefined for an invalid token. */
  claimsOf(token: string): StreamClaims | undefined {
    const ids = this.#ids.verify(token);
    return ids === undefined || ids.at(-1) === TRANSFER ? undefined : claimsIn(ids);
  }

  /** The claims of a transfer's token; undefined for an invalid token. */
  transferClaimsOf(token: string): StreamClaims | undefined {
    const ids = this.#ids.verify(token);
    return ids?.at(-1) === TRANSFER ? claimsIn(ids) : undefined;
  }

  /** What follows a stream whose caller is still there; `byDocument`: this response makes the transfer. */
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
    // The vendor repeats a request: the response may place a call, which must not happen twice.
    if (transfer?.result === "dialing") return { kind: "goesOn", claims: afterTransfer(claims) };
    if (call.metadata["endReason"] === UNSUPPORTED_AUDIO) return { kind: "unsupportedAudio" };
    return isBrokenOff(call) ? { kind: "goesOn", claims: next } : { kind: "over" };
  }

  /**
   * The leg of a transfer has ended, or never existed: its outcome is stored with the call, and after a failed
   * transfer the caller returns to the agent. The first outcome counts, however often and late the vendor reports;
   * `report` is undefined if it asks without one.
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

  /** Resolves when the outcome of a transfer can be read by the process that gets its caller. */
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

  /** The call, once its end is stored; a call that is still alive has lost its stream without noticing. */
  async #settled({ orgId, callKey, attempt }: StreamClaims): Promise<CallRecord | undefined> {
    const { calls, liveCalls, journal, clock } = this.#options;
    const placedCallId = placedCallOf(callKey);
    const find = async () => {
      const own = await calls.findBySession(orgId, this.#sessionId(callKey, attempt));
      // A stream that was requested again is the placed call's first session, too.
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
