import type { CallStore } from "../../storage/calls/call-store.js";
import type { CallRecord, JsonObject } from "../../storage/records.js";
import type { NewEvent } from "../../storage/webhooks/event-record.js";
import { CALLER_LEFT, type EndReason } from "../conversation/call-end.js";
import type { Logger } from "../log.js";
import { SignedIds } from "../security/signed-ids.js";
import type { StreamClaims } from "../security/stream-token.js";
import { phoneVendor } from "../telephony/phone-vendors.js";
import type { TransferReport } from "../telephony/transfer-report.js";
import type { Clock } from "../time/clock.js";
import { within } from "../time/deadline.js";
import { isBrokenOff, onceEnded } from "./broken-call.js";
import type { CallJournal } from "./call-journal.js";
import { transferCompletedEvent } from "./call-stream.js";
import type { LiveCalls } from "./live-calls.js";
import {
  ENDED_BY_TRANSFER,
  endingNote,
  isOpenTransfer,
  isReportedBlind,
  NOTHING_OF_EARLIER,
  type StoredTransfer,
  transferNote,
  transferOf,
} from "./transfer-record.js";

/** The path that a vendor requests when the stream of a call has ended. */
export const CONTINUATION_PATH = "/api/telephony/continue";

/** `base`: `https://host` of this server, as vendors reach it. */
export function continuationUrl(base: string, token: string): string {
  return `${base}${CONTINUATION_PATH}?token=${token}`;
}

/** A query parameter of the request of a caller whom the server itself has taken out of the hold. */
export const SENT_BACK_PARAMETER = "back";

/** As `continuationUrl`, for a caller whom the server takes out of the hold of a warm transfer. */
export function sentBackUrl(base: string, token: string): string {
  return `${continuationUrl(base, token)}&${SENT_BACK_PARAMETER}=1`;
}

/** Telephony vendors end calls after 24 hours. */
const TOKEN_LIFETIME_MS = 24 * 60 * 60 * 1_000;
const KEY_LABEL = "parley: continued call, version 1";
/**
 * The outcome of a transfer is stored within milliseconds; after this time a slower store no longer delays the
 * caller.
 */
const OUTCOME_STORED_MAX_MS = 1_000;
/** The caller waits meanwhile; after this time the transfer is ordered without its note. */
const ORDER_NOTED_MAX_MS = 1_000;
/** A caller's way back is ordered twice at most, and each time a stream may have begun. */
const RETURNS_SKIPPED_MAX = 3;
/** A call that breaks more often is over. */
const CONTINUATIONS_MAX = 3;
/** How often a caller returns from a failed transfer to the agent; after that the agent has no transfer tool. */
export const FAILED_TRANSFERS_MAX = 5;
/** Distinguishes the token of a transfer's outcome from that of a stream. */
const TRANSFER = "transfer";
/** Distinguishes the token of the person whom a warm transfer calls. */
const PERSON = "person";
/** Marks the token of a dialplan that dials transfers. */
const DIALS = "dials";
/** What a token says of a call that the organization's own account carries. */
const OWN_ACCOUNT = "own";
const PLACED = "placed:";
const UNSUPPORTED_AUDIO: EndReason = "unsupportedAudio";
/** The key of a call that this server placed; its first session has the call's id. */
export function placedCallKey(callId: string): string {
  return `${PLACED}${callId}`;
}

/** The call that this server placed under that key; undefined for an inbound call. */
export function placedCallOf(callKey: string): string | undefined {
  return callKey.startsWith(PLACED) ? callKey.slice(PLACED.length) : undefined;
}

/** The conversation of a telephone call, with ids that follow from the call's key. */
export interface PhoneConversation {
  readonly sessionId: string;
  readonly historyKey: string;
  /** The earlier sessions, which broke, last one first; a session that died before it was stored has no record. */
  readonly before: readonly string[];
  /** The first call, if this server placed it. */
  readonly placedCallId?: string | undefined;
}

/** The person whom a warm transfer calls: the caller's call, and which of its transfers it is. */
export interface PersonClaims {
  readonly claims: StreamClaims;
  readonly startedAtMs: number;
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
  | { readonly kind: "transfer"; readonly to: string; readonly callerId: string | undefined }
  /** The caller is on hold in a warm transfer, or about to be. `isCertain`: the call is known to have ended for the hold. */
  | { readonly kind: "onHold"; readonly isCertain: boolean }
  /** REST says what follows, and the vendor has a document for that. If it is the agent, another request gets the next stream. */
  | { readonly kind: "sentBack" }
  /** The caller hears that the call's audio cannot be decoded. */
  | { readonly kind: "unsupportedAudio" }
  | { readonly kind: "over" };

export interface ContinuationsOptions {
  readonly secret: string;
  readonly clock: Clock;
  readonly calls: Pick<CallStore, "findBySession" | "annotateIf">;
  readonly liveCalls: Pick<LiveCalls, "find">;
  readonly journal: Pick<CallJournal, "stored" | "annotate" | "annotateIf">;
  readonly log: Logger;
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

  /** The token of the person whom a warm transfer calls. */
  personTokenFor({ claims, startedAtMs }: PersonClaims): string {
    return this.#ids.mint([...idsOf(claims), String(startedAtMs), PERSON]);
  }

  /** What a person's token names; undefined for an invalid token. */
  personClaimsOf(token: string): PersonClaims | undefined {
    const ids = this.#ids.verify(token);
    if (ids?.at(-1) !== PERSON) return undefined;
    return { claims: claimsIn(ids), startedAtMs: Number(ids.at(-2)) };
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
      placedCallId: placedCallOf(callKey),
    };
  }

  /** The claims of a stream's token; undefined for an invalid token. */
  claimsOf(token: string): StreamClaims | undefined {
    const ids = this.#ids.verify(token);
    const kind = ids?.at(-1);
    return ids === undefined || kind === TRANSFER || kind === PERSON ? undefined : claimsIn(ids);
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
    const stored = transferOf(call);
    // The vendor may ask what follows the stream that it has left for the hold, also when the transfer has its outcome.
    const hasLeft = ENDED_BY_TRANSFER.has(String(call.metadata["endReason"]));
    // A slow store may still say that the call is active. A transfer that is taken for failed then would leave the caller on hold.
    if (stored?.mode === "warm" && stored.isOnHold && isOpenTransfer(stored))
      return { kind: "onHold", isCertain: hasLeft };
    if (stored?.mode === "warm" && stored.isOnHold && hasLeft) {
      const { interrupted, joinCaller } = phoneVendor(claims.vendor)?.documents.warmTransfer ?? {};
      const isJoinedOnHold = joinCaller !== undefined && stored.result === "answered";
      if (isJoinedOnHold) return { kind: "onHold", isCertain: true };
      if (interrupted !== undefined) return { kind: "sentBack" };
      this.#noteEnding(call, stored.result);
      return this.#returning(afterTransfer(claims), false);
    }
    if (stored?.mode === "warm" && isOpenTransfer(stored)) {
      // The server died before the caller was put on hold: the person who answers is not connected.
      await this.#noteWarm(call, stored, "failed");
      return { kind: "goesOn", claims: afterTransfer(claims) };
    }
    const transfer = byDocument ? stored : undefined;
    if (transfer?.result === "pending") {
      this.#options.journal.annotate(call.id, { transfer: { result: "dialing" } });
      return { kind: "transfer", to: transfer.to, callerId: transfer.callerId };
    }
    // The vendor repeats a request: the response may place a call, which must not happen twice.
    if (transfer?.result === "dialing") return { kind: "goesOn", claims: afterTransfer(claims) };
    if (call.metadata["endReason"] === UNSUPPORTED_AUDIO) return { kind: "unsupportedAudio" };
    return isBrokenOff(call) ? { kind: "goesOn", claims: next } : { kind: "over" };
  }

  /**
   * The leg of a transfer has ended, or never existed: its outcome is stored with the call, and after a failed
   * transfer the caller returns to the agent. The first outcome counts, however often and late the vendor reports;
   * `report` is undefined if it asks without one. `isSentBack`: the server has taken the caller out of the hold.
   */
  async afterTransfer(
    claims: StreamClaims,
    report: TransferReport | undefined,
    isCallerWaiting: boolean,
    isSentBack = false,
  ): Promise<NextStream> {
    const call = await this.#settled(claims);
    if (call === undefined) return { kind: "over" };
    const transfer = transferOf(call);
    const known = transfer?.result;
    const isOpen = transfer === undefined || isOpenTransfer(transfer);
    if (transfer?.mode === "warm") {
      // The vendor asks this also when the server takes the caller out of the conference.
      if (transfer.isSentBack && !isSentBack && isCallerWaiting) return { kind: "sentBack" };
      // The vendor reports the caller's part in a conference here, which says nothing of the person.
      if (isOpen) await this.#noteWarm(call, transfer, isCallerWaiting ? "failed" : "canceled");
      else this.#noteEnding(call, transfer.result);
      const { warmTransfer } = phoneVendor(claims.vendor)?.documents ?? {};
      // Where the caller is joined with the person, and not with a conference, the report is about both.
      if (
        warmTransfer?.joinCaller !== undefined &&
        known === "answered" &&
        report?.durationSec !== undefined
      )
        this.#options.journal.annotate(call.id, { transfer: { durationSec: report.durationSec } });
    } else if (isOpen && (report !== undefined || isCallerWaiting)) {
      this.#noteBlind(call, report ?? { result: "failed", reason: "", durationSec: undefined });
    } else if (known === "answered" && report?.result === "answered")
      this.#options.journal.annotate(call.id, transferNote(call, report));
    const result = isOpen && transfer?.mode !== "warm" ? report?.result : known;
    const isFromHold = isSentBack && transfer?.mode === "warm";
    if (!isCallerWaiting || (result === "answered" && !isFromHold)) return { kind: "over" };
    if (result === "answered") {
      // The person has accepted and never came: of two who talked, the caller's call is over with the conversation.
      if (transfer !== undefined) await this.#noteWarm(call, transfer, "failed");
    }
    return this.#returning(afterTransfer(claims), isFromHold);
  }

  /**
   * A session that exists already is the caller's, who is in it; a caller whom the server took out of the hold is in none, and
   * gets the next one.
   */
  async #returning(first: StreamClaims, isFromHold: boolean): Promise<NextStream> {
    const { calls } = this.#options;
    let claims = first;
    for (let skipped = 0; skipped <= RETURNS_SKIPPED_MAX; skipped += 1) {
      const session = await calls.findBySession(
        claims.orgId,
        this.#sessionId(claims.callKey, claims.attempt),
      );
      if (session === undefined) return { kind: "goesOn", claims };
      if (!isFromHold) return { kind: "over" };
      claims = { ...claims, attempt: claims.attempt + 1 };
    }
    return { kind: "over" };
  }

  /** The id of the session in which a caller is back with the agent. */
  nextSessionOf({ callKey, attempt }: StreamClaims): string {
    return this.#sessionId(callKey, attempt + 1);
  }

  /** The call's record as it is stored, whether the call has ended or not. */
  async recordOf({ orgId, callKey, attempt }: StreamClaims): Promise<CallRecord | undefined> {
    const { calls } = this.#options;
    const placedCallId = placedCallOf(callKey);
    const own = await calls.findBySession(orgId, this.#sessionId(callKey, attempt));
    // A stream that was requested again is the placed call's first session, too.
    if (own !== undefined || placedCallId === undefined || attempt === 0) return own;
    return calls.findBySession(orgId, placedCallId);
  }

  /**
   * REST is about to order a blind transfer: if this server dies meanwhile, the one that takes the call over knows of it, and adds
   * the outcome. Never rejects: a store that is away or slow stops no transfer.
   */
  async transferOrdered(claims: StreamClaims, to: string): Promise<void> {
    // A slow store may note it after the vendor's report.
    const isNews = (metadata: JsonObject) => !isReportedBlind(metadata);
    await this.#noteOrder(claims, isNews, {
      transfer: { ...NOTHING_OF_EARLIER, mode: null, summary: null, to, result: "dialing" },
    });
  }

  /**
   * A blind transfer is not made, and the caller stays with the agent: the record and an event say why. An order that the vendor
   * has reported on, and another transfer that is under way, stay as they are. Never rejects.
   */
  async transferRefused(claims: StreamClaims, to: string, reason: string): Promise<void> {
    const isNotMade = (metadata: JsonObject) => {
      const transfer = transferOf({ metadata });
      if (transfer === undefined || transfer.isRefused) return true;
      const isOrder = transfer.mode === "blind" && transfer.result === "dialing";
      return (
        (isOrder && transfer.to === to) || (transfer.mode === "warm" && !isOpenTransfer(transfer))
      );
    };
    const refused = { to, result: "failed", reason } as const;
    const transfer = {
      ...NOTHING_OF_EARLIER,
      mode: null,
      summary: null,
      ...refused,
      isRefused: true,
    };
    const startedAtMs = this.#options.clock.epochMs();
    await this.#noteOrder(claims, isNotMade, { transfer }, (call) =>
      transferCompletedEvent(call, { ...refused, mode: "blind", startedAtMs }, startedAtMs),
    );
  }

  async #noteOrder(
    claims: StreamClaims,
    isMet: (metadata: JsonObject) => boolean,
    metadata: JsonObject,
    eventOf?: (call: CallRecord) => NewEvent,
  ): Promise<void> {
    const { calls, clock, log } = this.#options;
    const { vendor, orgId } = claims;
    const note = async () => {
      const call = await this.recordOf(claims);
      if (call !== undefined) await calls.annotateIf(call.id, isMet, metadata, eventOf?.(call));
    };
    const noted = note().catch((error: unknown) => {
      log.warn({ vendor, orgId, error }, "failed to note the order of a transfer");
    });
    if (!(await within(clock, ORDER_NOTED_MAX_MS, noted)))
      log.warn({ vendor, orgId }, "the store was too slow to note the order of a transfer");
  }

  /** Resolves when the outcome of a transfer can be read by the process that gets its caller. */
  stored(): Promise<unknown> {
    const { clock, journal } = this.#options;
    return within(clock, OUTCOME_STORED_MAX_MS, journal.stored());
  }

  /** The outcome of a transfer may have been stored before the end of its call. */
  #noteEnding(call: CallRecord, result: StoredTransfer["result"]): void {
    const ending = endingNote(call, result);
    if (Object.keys(ending).length > 0) this.#options.journal.annotate(call.id, ending);
  }

  /** The outcome of a warm transfer, with its event. The first of two outcomes counts, or an acceptance that came to nothing. */
  async #noteWarm(
    call: CallRecord,
    transfer: StoredTransfer,
    result: "failed" | "canceled",
  ): Promise<void> {
    const { calls, clock } = this.#options;
    const { to, startedAtMs } = transfer;
    const isSame = (metadata: JsonObject) => {
      const now = transferOf({ metadata });
      return now?.startedAtMs === startedAtMs && now.result === transfer.result;
    };
    const note = transferNote(call, { result, reason: "", durationSec: undefined });
    const outcome = { to, mode: "warm", startedAtMs, result } as const;
    const event = transferCompletedEvent(call, outcome, clock.epochMs());
    await calls.annotateIf(call.id, isSame, note, event);
  }

  /** The first outcome of a blind transfer, with its event. */
  #noteBlind(call: CallRecord, report: TransferReport): void {
    const { journal, clock } = this.#options;
    const isOpen = (metadata: JsonObject) => {
      const transfer = transferOf({ metadata });
      return transfer === undefined || isOpenTransfer(transfer);
    };
    const to = transferOf(call)?.to ?? "";
    const outcome = { to, mode: "blind", startedAtMs: 0, ...report } as const;
    const event = transferCompletedEvent(call, outcome, clock.epochMs());
    journal.annotateIf(call.id, isOpen, transferNote(call, report), event);
  }

  /** The call, once its end is stored; a call that is still alive has lost its stream without noticing. */
  async #settled(claims: StreamClaims): Promise<CallRecord | undefined> {
    const { liveCalls, journal, clock } = this.#options;
    const find = () => this.recordOf(claims);
    const call = await find();
    if (call?.status !== "active") return call;
    liveCalls.find(call.id)?.end(CALLER_LEFT);
    return onceEnded(call, find, journal, clock);
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
