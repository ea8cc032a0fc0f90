import type { CallStore } from "../../storage/calls/call-store.js";
import { LOST_HOLD_CHECK_MS, warmTransferJob } from "../../storage/jobs/job-record.js";
import type { JobStore } from "../../storage/jobs/job-store.js";
import type { CallRecord, JsonObject } from "../../storage/records.js";
import type { NewEvent } from "../../storage/webhooks/event-record.js";
import { isAcceptance } from "../conversation/lexicon.js";
import type { Logger } from "../log.js";
import type { StreamClaims } from "../security/stream-token.js";
import {
  type CallControl,
  type CallControlApis,
  canTransferWarmly,
  type WarmTransferApi,
} from "../telephony/call-control.js";
import { callInfoIn } from "../telephony/call-info.js";
import type { WarmTransferDocuments } from "../telephony/call-instructions.js";
import { oneLine } from "../telephony/call-values.js";
import type { PlacedReport } from "../telephony/phone-vendor.js";
import { phoneVendor } from "../telephony/phone-vendors.js";
import { numberRefusal } from "../telephony/refused-numbers.js";
import {
  TRANSFER_RING_SEC,
  type TransferReport,
  type TransferResult,
} from "../telephony/transfer-report.js";
import type { DialTargets } from "../tenancy/agents/dial-targets.js";
import type { DoNotCall } from "../tenancy/agents/do-not-call.js";
import type { Clock } from "../time/clock.js";
import type { BriefingVoice, BriefingVoices } from "./briefing-voices.js";
import { type TransferOutcome, transferCompletedEvent } from "./call-stream.js";
import {
  type Continuations,
  continuationUrl,
  type PersonClaims,
  sentBackUrl,
} from "./continuations.js";
import { ownNumberOf, type TransferDials } from "./transfer-dials.js";
import {
  isOpenSince,
  isOpenTransfer,
  NOTHING_OF_EARLIER,
  transferNote,
  transferOf,
} from "./transfer-record.js";
import { maybeOnHold, RETURN_MAX_MS } from "./warm-transfer-job.js";

/** A caller who asks what follows has asked once by then. */
const FIRST_ASKED_MAX_MS = 5_000;
/** Where the vendor asks what the called person hears, and tells what the person answers. */
export const BRIEFING_PATH = "/api/telephony/briefing";
/** Where the vendor gets the sound of it. */
export const BRIEFING_AUDIO_PATH = "/api/telephony/briefing.wav";
/** Where the vendor reports what becomes of the person's call. */
export const BRIEFING_STATUS_PATH = "/api/telephony/briefing-status";
/** Where a vendor gets the document of a caller on hold. */
export const HOLD_PATH = "/api/telephony/hold";
/** When two have talked, the caller's call ends within this time of the person's. */
const CALLER_OVER_MAX_MS = 2_000;
/** A query parameter: the caller already waits, and the document is what is played meanwhile. */
export const PLAYED_PARAMETER = "play";
/** Where a vendor without music of its own gets some. */
export const HOLD_MUSIC_PATH = "/api/telephony/hold.mp3";
/** A query parameter of the sound of the question alone. */
export const QUESTION_PARAMETER = "question";
/** The results of a transfer whose person may still ring or wait. */
const MAY_BE_CALLED = new Set(["pending", "dialing", "unknown", "answered", "canceled", "failed"]);
/** How often a person is asked who answers nothing. */
const ASKED_MAX = 3;
const ACCEPT_KEY = "1";
const SPEECH_CHARACTERS_MAX = 200;
/** Why a warm transfer cannot start, as the record of an ordered one says it. */
export const NO_PUBLIC_ADDRESS = "this server has no public address";
const NO_WARM_TRANSFER = "the telephony vendor has no warm transfer";
const NO_ACCOUNT = "no account at the telephony vendor can make one";
const NO_OWN_NUMBER = "the number of the call is not known";
/** The call has had as many failed transfers as it may have. */
export const FAILED_TOO_OFTEN = "the call's transfers have failed too often";
/** Neither the account nor the document after the stream can transfer the call. */
export const NO_TRANSFER = "the telephony vendor cannot transfer the call";
const NOT_ALLOWED = "the person's number may not be called";
const UNDER_WAY = "another warm transfer of the call is under way";

export interface WarmTransfersOptions {
  readonly continuations: Pick<
    Continuations,
    "recordOf" | "conversationOf" | "nextSessionOf" | "personTokenFor" | "transferTokenFor"
  >;
  readonly calls: Pick<CallStore, "findBySession" | "annotate" | "annotateIf">;
  readonly jobs: Pick<JobStore, "add">;
  readonly callControl: Pick<CallControl, "warmTransferApi" | "hangUp">;
  readonly voices: Pick<BriefingVoices, "of">;
  readonly transferDials: Pick<TransferDials, "callerIdOf">;
  /** Undefined: the organization may call every number. */
  readonly dialTargets: Pick<DialTargets, "mayReach"> | undefined;
  readonly doNotCall: Pick<DoNotCall, "has">;
  readonly clock: Clock;
  readonly log: Logger;
}

export interface WarmTransferOrder {
  /** E.164, or a SIP address. */
  readonly to: string;
  /** A number that the person sees in place of the call's; only the call's own account may show the caller's number. */
  readonly callerId?: string | undefined;
  /** What the person hears about the call; may be empty. */
  readonly summary: string;
  /** `https://host` of this server as vendors reach it. */
  readonly base: string;
  /** False when the caller's stream is gone. */
  readonly isCallerThere: () => boolean;
  /** A member of the organization has ordered it, and learns from the record and an event why it cannot start. */
  readonly neverBlind?: true | undefined;
}

/** What the person has answered, in the vendor's words. */
export interface PersonAnswer {
  readonly digits: string;
  readonly speech: string;
  /** How often the person was asked. */
  readonly asked: number;
}

interface CallOnHold extends PersonClaims {
  readonly call: CallRecord;
}

interface WarmCall extends CallOnHold {
  readonly documents: WarmTransferDocuments;
}

/** A warm transfer whose person is about to be called. */
interface Placing extends WarmCall {
  readonly api: WarmTransferApi;
  readonly from: string;
  readonly to: string;
}

/**
 * Which callers this process puts on hold at the moment, and whom it has just sent back: the order of the hold, the request with
 * the outcome and the one for the document of the hold may run at once, and one of them sends the caller back. Nothing of it is
 * stored: the job looks after a caller whom another process, or none, has sent back.
 */
class ReturnClaims {
  readonly #clock: Clock;
  /** The sessions whose callers are just being put on hold. */
  readonly #holding = new Set<string>();
  /** When the callers of these sessions were sent back, the earliest first; kept for `RETURN_MAX_MS`. */
  readonly #returnedAtMs = new Map<string, number>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** What was done in an earlier transfer of the call counts no more. */
  transferBegins(sessionId: string): void {
    this.#returnedAtMs.delete(sessionId);
  }

  holdBegins(sessionId: string): void {
    this.#holding.add(sessionId);
  }

  holdIsOrdered(sessionId: string): void {
    this.#holding.delete(sessionId);
  }

  /** The order of the hold is on its way: who has sent it brings the caller back behind it. */
  isBeingHeld(sessionId: string): boolean {
    return this.#holding.has(sessionId);
  }

  /** False if the caller has been sent back already. */
  claim(sessionId: string): boolean {
    const nowMs = this.#clock.monotonicMs();
    for (const [id, atMs] of this.#returnedAtMs) {
      if (nowMs - atMs < RETURN_MAX_MS) break;
      this.#returnedAtMs.delete(id);
    }
    if (this.#returnedAtMs.has(sessionId)) return false;
    this.#returnedAtMs.set(sessionId, nowMs);
    return true;
  }
}

const NO_ANSWER = { result: "notAccepted", reason: "", durationSec: undefined } as const;
/** The vendors' own words are shorter. */
const ANSWERED_BY_CHARACTERS_MAX = 64;

/** The vendor's word for the machine that it has heard; empty if it has heard none. */
function machineIn({ call }: Pick<WarmCall, "call">): string {
  return transferOf(call)?.answeredBy ?? "";
}

/** If the vendor has heard a machine and the person has not accepted, a machine has answered. */
function unanswered(warm: Pick<WarmCall, "call">, report: TransferReport): TransferReport {
  const reason = machineIn(warm);
  if (reason === "" || report.result !== "notAccepted") return report;
  return { ...report, result: "machine", reason };
}

/**
 * Warm transfers: the caller waits in a conference of the vendor while a person is called, told about the call and asked. All
 * that is known of one is in the call's record, so that any server of the database answers the vendor, and a job brings the
 * caller back if none did in time.
 */
export class WarmTransfers {
  readonly #options: WarmTransfersOptions;
  /** By the session of the caller. */
  readonly #starting = new Map<string, Promise<boolean>>();
  readonly #returns: ReturnClaims;

  constructor(options: WarmTransfersOptions) {
    this.#options = options;
    this.#returns = new ReturnClaims(options.clock);
  }

  /** Why none can start: the vendor, its account or the call's own number. Undefined if one can. */
  async refusalOf(claims: StreamClaims): Promise<string | undefined> {
    if (phoneVendor(claims.vendor)?.documents.warmTransfer === undefined) return NO_WARM_TRANSFER;
    const { continuations } = this.#options;
    if ((await this.#apiFor(claims)) === undefined) return NO_ACCOUNT;
    const call = await continuations.recordOf(claims);
    return call === undefined || ownNumberOf(call) === undefined ? NO_OWN_NUMBER : undefined;
  }

  /** An ordered transfer that cannot start: the record says why, and the call goes on with the agent. Never rejects. */
  async refuse(
    claims: StreamClaims,
    { to, summary }: Pick<WarmTransferOrder, "to" | "summary">,
    reason: string,
  ): Promise<void> {
    const { continuations, calls, clock, log } = this.#options;
    const { vendor, orgId } = claims;
    try {
      const call = await continuations.recordOf(claims);
      if (call === undefined) return;
      const startedAtMs = clock.epochMs();
      const refused = { to, mode: "warm", result: "failed", reason, summary, startedAtMs } as const;
      const transfer = { ...NOTHING_OF_EARLIER, ...refused };
      const event = transferCompletedEvent(call, refused, startedAtMs);
      // The record keeps the transfer that is under way, and the event alone says why this one was refused.
      if (!(await calls.annotateIf(call.id, isFree, { transfer }, event)))
        await calls.annotateIf(call.id, () => true, {}, event);
      log.warn({ vendor, orgId, callId: call.id, reason }, "a warm transfer was refused");
    } catch (error) {
      log.error({ vendor, orgId, error }, "failed to note that a warm transfer was refused");
    }
  }

  /**
   * Calls the person and puts the caller on hold. False if the vendor refuses either: the caller is still with the agent. The
   * record and the job are stored before, so that a server that dies meanwhile loses no caller. Never rejects. An order while one
   * is under way gets that one's outcome: no one is called for it.
   */
  start(claims: StreamClaims, order: WarmTransferOrder): Promise<boolean> {
    const { sessionId } = this.#options.continuations.conversationOf(claims);
    const underWay = this.#starting.get(sessionId);
    if (underWay !== undefined) return underWay;
    this.#returns.transferBegins(sessionId);
    const started = this.#begin(claims, order)
      .catch((error: unknown) => {
        const { vendor, orgId } = claims;
        this.#options.log.error({ vendor, orgId, error }, "failed to start a warm transfer");
        return false;
      })
      .finally(() => this.#starting.delete(sessionId));
    this.#starting.set(sessionId, started);
    return started;
  }

  async #begin(claims: StreamClaims, order: WarmTransferOrder): Promise<boolean> {
    const { continuations, calls, jobs, transferDials, clock } = this.#options;
    const { vendor, orgId } = claims;
    const { to, summary, base, callerId } = order;
    const documents = phoneVendor(vendor)?.documents.warmTransfer;
    const api = await this.#apiFor(claims);
    const call = await continuations.recordOf(claims);
    const from = await transferDials.callerIdOf(call, callerId);
    if (documents === undefined || api === undefined || call === undefined || from === undefined)
      return this.#refuseStart(claims, order, (await this.refusalOf(claims)) ?? NO_ACCOUNT);
    if (!(await this.#mayCall(orgId, to))) return this.#refuseStart(claims, order, NOT_ALLOWED);
    const startedAtMs = clock.epochMs();
    const transfer = {
      ...NOTHING_OF_EARLIER,
      to,
      mode: "warm",
      result: "dialing",
      summary,
      startedAtMs,
    };
    if (!(await calls.annotateIf(call.id, isFree, { transfer })))
      return this.#refuseStart(claims, order, UNDER_WAY);
    const placing = { claims, call, documents, api, startedAtMs, from, to };
    try {
      const payload = this.#jobPayload(placing, base);
      await jobs.add([warmTransferJob(orgId, call.id, payload, startedAtMs)]);
      return await this.#place(placing, order);
    } catch (error) {
      await this.#fail(placing, { personCallId: "", base, error });
      return false;
    }
  }

  /** The caller is still with the agent. */
  async #refuseStart(
    claims: StreamClaims,
    order: WarmTransferOrder,
    reason: string,
  ): Promise<false> {
    if (order.neverBlind === true) await this.refuse(claims, order, reason);
    return false;
  }

  /** The caller is put on hold only if there is no outcome yet: the person may have refused before the vendor's answer is here. */
  async #place(
    placing: Placing,
    { to, base, summary, isCallerThere }: WarmTransferOrder,
  ): Promise<boolean> {
    const { callControl, continuations, calls, log } = this.#options;
    const { claims, call, documents, api, startedAtMs, from } = placing;
    const { vendor, orgId } = claims;
    const token = continuations.personTokenFor({ claims, startedAtMs });
    const personCallId = await api.place({
      to,
      from,
      answerUrl: `${base}${BRIEFING_PATH}?token=${token}`,
      statusUrl: `${base}${BRIEFING_STATUS_PATH}?token=${token}`,
      detectMachine: true,
      ringTimeoutSec: TRANSFER_RING_SEC,
    });
    const sessionId = this.#conferenceOf(claims);
    this.#returns.holdBegins(sessionId);
    try {
      this.#prepareSpeech(call, summary);
      const isOpen = (metadata: JsonObject) => isOpenSince(metadata, startedAtMs);
      const hold = { transfer: { personCallId, isOnHold: true } };
      if (!(await calls.annotateIf(call.id, isOpen, hold))) {
        await callControl.hangUp(claims, personCallId, "ringingOrAnswered");
        return false;
      }
      const next = {
        document: this.#wait(claims, documents, base),
        url: this.#holdUrl(base, claims),
      };
      // No request names a caller who asks, so that the vendor does not say that the caller has left.
      const hasLeft = documents.joinCaller !== undefined && !isCallerThere();
      if (hasLeft || !(await api.redirect(claims.callerRef, next))) {
        await this.#fail(placing, { personCallId, base });
        return false;
      }
    } catch (error) {
      await this.#fail(placing, { personCallId, base, error });
      return false;
    } finally {
      this.#returns.holdIsOrdered(sessionId);
    }
    log.info({ vendor, orgId, callId: call.id }, "a caller waits for a warm transfer");
    await this.#returnIfDecided(placing, base);
    return true;
  }

  /** An outcome that came while the caller was put on hold may have brought the caller back too early. */
  async #returnIfDecided({ claims, call, startedAtMs }: Placing, base: string): Promise<void> {
    const { continuations, calls, callControl, log } = this.#options;
    try {
      const now = await continuations.recordOf(claims);
      const transfer = now && transferOf(now);
      const isOurs = transfer?.startedAtMs === startedAtMs;
      if (!isOurs || isOpenTransfer(transfer) || transfer.result === "answered") return;
      const next = await calls.findBySession(claims.orgId, continuations.nextSessionOf(claims));
      if (next !== undefined && !maybeOnHold(next)) {
        // The vendor asked what follows the stream before it answered, and the caller is with the agent.
        await callControl.hangUp(claims, transfer.personCallId, "ringingOrAnswered");
        return;
      }
      if (!this.#returns.claim(this.#conferenceOf(claims))) return;
      await this.#sendBack(claims, base);
    } catch (error) {
      log.error({ callId: call.id, error }, "a caller could not be brought back; the job retries");
    }
  }

  /** The vendor may have put the caller on hold although its answer was lost: the job looks after it soon. */
  async #fail(
    placing: Placing,
    { personCallId, base, error }: { personCallId: string; base: string; error?: unknown },
  ): Promise<void> {
    const { claims, call, startedAtMs, to } = placing;
    const { callControl, calls, clock, log } = this.#options;
    const { vendor, orgId } = claims;
    const facts = { vendor, orgId, callId: call.id };
    log.error({ ...facts, error }, "failed to start a warm transfer");
    const isOpen = (metadata: JsonObject) => isOpenSince(metadata, startedAtMs);
    // A person who answers in this time hears nothing.
    const failed = { transfer: { result: "failed", reason: "" } };
    const outcome = { to, mode: "warm", startedAtMs, result: "failed" } as const;
    const event = transferCompletedEvent(call, outcome, clock.epochMs());
    await calls.annotateIf(call.id, isOpen, failed, event).catch((lost: unknown) => {
      log.error({ ...facts, error: lost }, "failed to store that a warm transfer failed");
    });
    if (personCallId === "") return;
    await callControl.hangUp(claims, personCallId, "ringingOrAnswered");
    await this.#lookAfter(placing, base, LOST_HOLD_CHECK_MS);
  }

  /**
   * The outcome is stored, and the way back is ordered, or about to be: the job finds out whether the caller is back. Where it
   * cannot be stored, the one that was stored before the transfer comes later.
   */
  async #lookAfter(warm: CallOnHold, base: string, afterMs = RETURN_MAX_MS): Promise<void> {
    const { claims, call, startedAtMs } = warm;
    const { jobs, clock, log } = this.#options;
    const { vendor, orgId } = claims;
    const payload = { ...this.#jobPayload(warm, base), isReturnDue: true };
    const dueMs = clock.epochMs() - startedAtMs + afterMs;
    const job = warmTransferJob(orgId, call.id, payload, startedAtMs, dueMs);
    await jobs.add([job]).catch((error: unknown) => {
      const facts = { vendor, orgId, callId: call.id, error };
      log.error(facts, "failed to store the job of a warm transfer");
    });
  }

  #jobPayload({ claims, call, startedAtMs }: CallOnHold, base: string): JsonObject {
    const { vendor, callerRef, ownAccount } = claims;
    return {
      callId: call.id,
      startedAtMs,
      nextSessionId: this.#options.continuations.nextSessionOf(claims),
      vendor,
      callerRef,
      ownAccount: ownAccount === true,
      resultUrl: this.#sentBackUrl(base, claims),
    };
  }

  /** The rules may have changed since the call began. */
  async #mayCall(orgId: string, to: string): Promise<boolean> {
    const { dialTargets, doNotCall } = this.#options;
    if (numberRefusal(to) !== undefined || (await doNotCall.has(orgId, to))) return false;
    return dialTargets === undefined || (await dialTargets.mayReach(orgId, to));
  }

  /**
   * The document of the hold, or what a caller on hold hears or asks; undefined at vendors without one. The vendor may ask late: a
   * caller who has no one to wait for goes on to the agent.
   */
  async hold(
    claims: StreamClaims,
    base: string,
    wanted: "hold" | "sound" | "next" = "hold",
  ): Promise<string | undefined> {
    const documents = phoneVendor(claims.vendor)?.documents.warmTransfer;
    if (documents === undefined) return undefined;
    if (wanted === "sound") return documents.play?.(`${base}${HOLD_MUSIC_PATH}`);
    if (documents.joinCaller !== undefined) {
      const isOnHold = wanted === "next";
      return this.#askedOnHold(claims, documents, base, isOnHold);
    }
    // A caller who has just been sent back needs no second way back; the job looks after one whom the hold overtakes.
    if ((await this.#isAwaited(claims)) || !this.#returns.claim(this.#conferenceOf(claims)))
      return this.#wait(claims, documents, base);
    return documents.goOn(this.#sentBackUrl(base, claims));
  }

  /**
   * The answer to a vendor that asks what follows what REST has interrupted. It claims no way back, since most vendors ignore the
   * answer: REST alone brings this caller back. `isCertain`: the record says that the caller has left the agent for the hold. A
   * server that died before it ordered the hold leaves a vendor that does follow the answer.
   */
  async interruptedHold(
    claims: StreamClaims,
    base: string,
    isCertain = true,
  ): Promise<string | undefined> {
    const documents = phoneVendor(claims.vendor)?.documents.warmTransfer;
    if (documents === undefined) return undefined;
    if (documents.joinCaller !== undefined)
      return this.#askedOnHold(claims, documents, base, false);
    const interrupted = isCertain ? documents.interrupted : undefined;
    return interrupted ?? this.#wait(claims, documents, base);
  }

  /** One caller asks once at a time, so that each answer may lead back to the agent. */
  async #askedOnHold(
    claims: StreamClaims,
    documents: WarmTransferDocuments,
    base: string,
    isOnHold: boolean,
  ): Promise<string> {
    if (!(await this.#isAwaited(claims))) return documents.goOn(this.#sentBackUrl(base, claims));
    const { continuations, calls } = this.#options;
    const call = await continuations.recordOf(claims);
    const transfer = call && transferOf(call);
    const hasAccepted = transfer?.result === "answered";
    if (isOnHold && hasAccepted && documents.joinCaller !== undefined)
      return documents.joinCaller(transfer.personCallId);
    if (call !== undefined && transfer?.isAsking === false)
      await calls.annotate(call.id, { transfer: { isAsking: true } });
    return this.#wait(claims, documents, base);
  }

  /** Whether the person may still enter the conference, or is in it. A vendor that does not answer leaves it open. */
  async #isAwaited(claims: StreamClaims): Promise<boolean> {
    const { continuations, log } = this.#options;
    const call = await continuations.recordOf(claims);
    if (call === undefined) return true;
    const transfer = transferOf(call);
    if (transfer?.mode !== "warm") return false;
    if (transfer.result !== "answered") return isOpenTransfer(transfer);
    try {
      const api = await this.#apiFor(claims);
      return api === undefined || (await api.isLive(transfer.personCallId));
    } catch (error) {
      log.warn({ callId: call.id, error }, "whether a person is still there is unknown");
      return true;
    }
  }

  #wait(claims: StreamClaims, documents: WarmTransferDocuments, base: string): string {
    const documentUrl = `${this.#holdUrl(base, claims)}&${PLAYED_PARAMETER}=1`;
    return documents.wait({
      conference: this.#conferenceOf(claims),
      resultUrl: this.#resultUrl(base, claims),
      holdUrl: this.#holdUrl(base, claims),
      music: { soundUrl: `${base}${HOLD_MUSIC_PATH}`, documentUrl },
    });
  }

  #holdUrl(base: string, claims: StreamClaims): string {
    return `${base}${HOLD_PATH}?token=${this.#options.continuations.transferTokenFor(claims)}`;
  }

  /** The document for a person who has answered the telephone; undefined if no caller waits any more. */
  async answered(person: PersonClaims, base: string): Promise<string | undefined> {
    const warm = await this.#waiting(person);
    if (warm === undefined || (await this.#hasCallerLeft(warm, base))) return undefined;
    return this.#ask(warm, base, 1);
  }

  /** Asked where no request says it. A vendor that does not answer leaves it open. */
  async #hasCallerLeft(warm: WarmCall, base: string): Promise<boolean> {
    const { claims, call, startedAtMs, documents } = warm;
    const { calls, clock, log } = this.#options;
    // Before a caller who asks has asked, nothing reports that the caller has left.
    const waitedMs = clock.epochMs() - startedAtMs;
    const hasAsked = documents.joinCaller === undefined || transferOf(call)?.isAsking === true;
    if (documents.reportsCallerExit && (hasAsked || waitedMs < FIRST_ASKED_MAX_MS)) return false;
    try {
      if (hasAsked && (await this.#isCallerLive(claims))) return false;
      const isOpen = (metadata: JsonObject) => isOpenSince(metadata, startedAtMs);
      const report = { result: "canceled", reason: "", durationSec: undefined } as const;
      const event = this.#completed(call, { startedAtMs, result: "canceled" });
      if (!(await calls.annotateIf(call.id, isOpen, transferNote(call, report), event)))
        return true;
    } catch (error) {
      log.warn(
        { callId: call.id, atMs: clock.epochMs(), error },
        "whether a caller waits is unknown",
      );
      return false;
    }
    // A vendor that is wrong about it would leave the caller on hold; a caller who has left needs nothing.
    await this.#returnFromHold(warm, base, "canceled");
    return true;
  }

  #completed(call: CallRecord, outcome: Omit<TransferOutcome, "to" | "mode">): NewEvent {
    const to = transferOf(call)?.to ?? "";
    return transferCompletedEvent(
      call,
      { to, mode: "warm", ...outcome },
      this.#options.clock.epochMs(),
    );
  }

  /** The document for a person who was asked; undefined if the person's call is over with it. */
  async decided(
    person: PersonClaims,
    { digits, speech, asked }: PersonAnswer,
    base: string,
  ): Promise<string | undefined> {
    const warm = await this.#waiting(person);
    if (warm === undefined) return this.#joinedBefore(person);
    const { documents } = warm;
    const heard = oneLine(speech).slice(0, SPEECH_CHARACTERS_MAX);
    const { language } = await this.#voiceFor(warm);
    const isAccepted = digits === "" ? isAcceptance(language, heard) : digits === ACCEPT_KEY;
    if (isAccepted === true) {
      if (await this.#hasCallerLeft(warm, base)) return undefined;
      const acceptedBy = digits === "" ? "voice" : "key";
      const isFirst = await this.#accept(warm, acceptedBy);
      return isFirst ? documents.join(this.#conferenceOf(person.claims)) : undefined;
    }
    const isMachine = machineIn(warm) !== "";
    if (isAccepted === undefined && asked < ASKED_MAX && !isMachine)
      return this.#ask(warm, base, asked + 1);
    const result = isAccepted === false ? "rejected" : "notAccepted";
    await this.#bringBack(warm, unanswered(warm, { ...NO_ANSWER, result }), base);
    return undefined;
  }

  /** The person has accepted in the briefing's own stream, and the vendor asks what follows that. */
  async #joinedBefore({ claims, startedAtMs }: PersonClaims): Promise<string | undefined> {
    const documents = phoneVendor(claims.vendor)?.documents.warmTransfer;
    if (documents?.joinCaller === undefined) return undefined;
    const call = await this.#options.continuations.recordOf(claims);
    const transfer = call && transferOf(call);
    const hasAccepted = transfer?.startedAtMs === startedAtMs && transfer.result === "answered";
    return hasAccepted ? documents.join(this.#conferenceOf(claims)) : undefined;
  }

  /** False if the transfer has got another outcome meanwhile: the person is not joined. */
  async #accept({ call, startedAtMs }: WarmCall, acceptedBy: "voice" | "key"): Promise<boolean> {
    const { calls, clock, log } = this.#options;
    const waitedSec = Math.max(0, Math.round((clock.epochMs() - startedAtMs) / 1_000));
    const isOpen = (metadata: JsonObject) => isOpenSince(metadata, startedAtMs);
    const note = { transfer: { result: "answered", acceptedBy, waitedSec } };
    const outcome = { startedAtMs, result: "answered", acceptedBy, waitedSec } as const;
    const event = this.#completed(call, outcome);
    if (!(await calls.annotateIf(call.id, isOpen, note, event))) return false;
    log.info({ callId: call.id, acceptedBy, waitedSec }, "a person accepted a warm transfer");
    return true;
  }

  /** What the vendor reports about the person's call: its outcome, or who answered. */
  async reported(
    person: PersonClaims,
    { answeredBy }: Pick<PlacedReport, "answeredBy">,
    report: TransferReport | undefined,
    base: string,
  ): Promise<void> {
    const isMachine = /^(?:machine|fax)/.test(answeredBy);
    if (!isMachine && report === undefined) return;
    const warm = await this.#waiting(person);
    if (warm === undefined) {
      if (report !== undefined) await this.#personLeft(person, report, base);
      return;
    }
    if (isMachine)
      return this.#noteMachine(warm, answeredBy.slice(0, ANSWERED_BY_CHARACTERS_MAX), base);
    if (report === undefined) return;
    // Who answered and hung up has not accepted.
    const result = report.result === "answered" ? "notAccepted" : report.result;
    await this.#bringBack(warm, unanswered(warm, { ...report, result }), base);
  }

  /**
   * Vendors take many a person for a machine, and the person is listening by now: the question decides. It is asked once then. A fax
   * answers nothing.
   */
  async #noteMachine(warm: WarmCall, answeredBy: string, base: string): Promise<void> {
    if (answeredBy.startsWith("fax")) {
      await this.#bringBack(warm, { ...NO_ANSWER, result: "machine", reason: answeredBy }, base);
      return;
    }
    const { call, startedAtMs } = warm;
    const isOpen = (metadata: JsonObject) => isOpenSince(metadata, startedAtMs);
    await this.#options.calls.annotateIf(call.id, isOpen, { transfer: { answeredBy } });
  }

  /**
   * The call of a person who has accepted is over. The caller's call ends with the conversation; a caller who is still there a
   * little later was never joined. If the server dies before, the job looks after the caller.
   */
  async #personLeft(
    { claims, startedAtMs }: PersonClaims,
    { durationSec }: TransferReport,
    base: string,
  ): Promise<void> {
    const { continuations, calls, clock, log } = this.#options;
    const call = await continuations.recordOf(claims);
    const transfer = call && transferOf(call);
    if (call === undefined || transfer?.startedAtMs !== startedAtMs) return;
    if (transfer.mode !== "warm" || transfer.result !== "answered" || !transfer.isOnHold) return;
    clock.after(CALLER_OVER_MAX_MS, () => {
      this.#sendBack(claims, base).catch((error: unknown) => {
        const facts = { callId: call.id, error };
        log.error(facts, "a caller could not be brought back; the job retries");
      });
    });
    if (durationSec !== undefined) await calls.annotate(call.id, { transfer: { durationSec } });
  }

  /**
   * The caller's part of the conference is over, or the caller has hung up, and that is stored: a person who still rings is not
   * needed, and one who has accepted has no one to talk to.
   */
  async callerLeft(claims: StreamClaims): Promise<void> {
    const { continuations, callControl, clock, log } = this.#options;
    const call = await continuations.recordOf(claims);
    const transfer = call && transferOf(call);
    if (call === undefined || transfer?.mode !== "warm") return;
    const { personCallId, result } = transfer;
    if (personCallId === "" || !MAY_BE_CALLED.has(result)) return;
    const hangUp = () => callControl.hangUp(claims, personCallId, "ringingOrAnswered");
    if (result !== "answered") return hangUp();
    // Jambonz asks this also when the two are joined on another of its servers.
    clock.after(CALLER_OVER_MAX_MS, () => {
      this.#isCallerLive(claims)
        .then((isLive) => (isLive ? undefined : hangUp()))
        .catch((error: unknown) => {
          log.warn({ callId: call.id, error }, "whether a joined caller is still there is unknown");
        });
    });
  }

  /** Rejects with a VendorError. A caller who is not known by an id asks no more when this is asked. */
  async #isCallerLive(claims: StreamClaims): Promise<boolean> {
    if (claims.callerRef === "") return false;
    const api = await this.#apiFor(claims);
    return api === undefined || api.isLive(claims.callerRef);
  }

  #apiFor(claims: StreamClaims): Promise<WarmTransferApi | undefined> {
    const { warmTransfer } = phoneVendor(claims.vendor)?.documents ?? {};
    const callRef = warmTransfer?.joinCaller === undefined ? claims.callerRef : undefined;
    return this.#options.callControl.warmTransferApi(claims, callRef);
  }

  /** What a person who is asked for the first time, or again, hears in a media stream, in order: WAV files, and none without TTS. */
  async briefing(person: PersonClaims, isAskedAgain: boolean): Promise<readonly Uint8Array[]> {
    const parts = isAskedAgain ? [true] : [false, true];
    const sounds = await Promise.all(parts.map((isQuestion) => this.audio(person, isQuestion)));
    return sounds.every((sound) => sound !== undefined) ? sounds : [];
  }

  /** The sound of what the person hears, as a WAV file; undefined if TTS cannot say it now, or no caller waits any more. */
  async audio(person: PersonClaims, isQuestion: boolean): Promise<Uint8Array | undefined> {
    const warm = await this.#waiting(person);
    if (warm === undefined) return undefined;
    const voice = await this.#voiceFor(warm);
    const summary = transferOf(warm.call)?.summary ?? "";
    return voice.speak(
      isQuestion ? voice.phrases.briefingQuestion : introductionOf(summary, voice),
    );
  }

  /** The person who answers hears the words at once. */
  #prepareSpeech(call: CallRecord, summary: string): void {
    const { voices, log } = this.#options;
    const prepare = async () => {
      const voice = await voices.of(call);
      await Promise.all([
        voice.speak(introductionOf(summary, voice)),
        voice.speak(voice.phrases.briefingQuestion),
      ]);
    };
    prepare().catch((error: unknown) => {
      log.warn(
        { orgId: call.orgId, error },
        "failed to prepare what a person of a warm transfer hears",
      );
    });
  }

  async #ask(warm: WarmCall, base: string, asked: number): Promise<string> {
    const token = this.#options.continuations.personTokenFor(warm);
    const voice = await this.#voiceFor(warm);
    const audioUrl = `${base}${BRIEFING_AUDIO_PATH}?token=${token}`;
    const partOf = async (text: string, url: string) => {
      const isSpoken = (await voice.speak(text)) !== undefined;
      return isSpoken ? { text, audioUrl: url } : { text };
    };
    const { briefingQuestion } = voice.phrases;
    const summary = transferOf(warm.call)?.summary ?? "";
    const [introduction, question] = await Promise.all([
      asked === 1 ? partOf(introductionOf(summary, voice), audioUrl) : undefined,
      partOf(briefingQuestion, `${audioUrl}&${QUESTION_PARAMETER}=1`),
    ]);
    return warm.documents.ask({
      ...(introduction !== undefined && { introduction }),
      question,
      language: telephoneLanguage(voice.language),
      answerUrl: `${base}${BRIEFING_PATH}?token=${token}&asked=${asked}`,
    });
  }

  /**
   * The outcome is stored first: the vendor asks for the caller's next document wherever it reaches a server. Does nothing if
   * there is another outcome already. A caller who is not on hold yet stays with the agent.
   */
  async #bringBack(warm: WarmCall, report: TransferReport, base: string): Promise<void> {
    const { claims, call, startedAtMs } = warm;
    const { continuations, calls, callControl } = this.#options;
    const isOpen = (metadata: JsonObject) => isOpenSince(metadata, startedAtMs);
    const { result, reason } = report;
    const event = this.#completed(call, { startedAtMs, result, reason });
    if (!(await calls.annotateIf(call.id, isOpen, transferNote(call, report), event))) return;
    await this.#returnFromHold(warm, base, result);
    const now = await continuations.recordOf(claims);
    const personCallId = (now && transferOf(now))?.personCallId ?? "";
    if (personCallId !== "") await callControl.hangUp(claims, personCallId, "ringingOrAnswered");
  }

  /** The outcome is stored. While the caller is being put on hold, the start brings the caller back behind it. */
  async #returnFromHold(warm: CallOnHold, base: string, result: TransferResult): Promise<void> {
    const { continuations, log } = this.#options;
    const { claims, call } = warm;
    const facts = { vendor: claims.vendor, orgId: claims.orgId, callId: call.id, result };
    const now = await continuations.recordOf(claims);
    const sessionId = this.#conferenceOf(claims);
    if (now === undefined || transferOf(now)?.isOnHold !== true) return;
    await this.#lookAfter(warm, base);
    if (this.#returns.isBeingHeld(sessionId) || !this.#returns.claim(sessionId)) return;
    try {
      if (await this.#sendBack(claims, base))
        log.info(facts, "a caller returns to the agent from a warm transfer");
    } catch (error) {
      log.error({ ...facts, error }, "a caller could not be brought back; the job retries");
    }
  }

  /** False for a caller who has hung up, who needs nothing. Rejects with a VendorError. */
  async #sendBack(claims: StreamClaims, base: string): Promise<boolean> {
    const api = await this.#apiFor(claims);
    const documents = phoneVendor(claims.vendor)?.documents.warmTransfer;
    if (documents === undefined || api === undefined) return false;
    if (documents.interrupted !== undefined) await this.#noteSentBack(claims);
    const url = this.#sentBackUrl(base, claims);
    return api.redirect(claims.callerRef, { document: documents.goOn(url), url });
  }

  /** Tells the vendor's request for what follows the interrupted hold from that of a caller whose hold is over. */
  async #noteSentBack(claims: StreamClaims): Promise<void> {
    const { continuations, calls } = this.#options;
    const call = await continuations.recordOf(claims);
    if (call !== undefined) await calls.annotate(call.id, { transfer: { isSentBack: true } });
  }

  /** Undefined if the transfer has its outcome, or is not the person's, or the caller is with the agent. */
  async #waiting({ claims, startedAtMs }: PersonClaims): Promise<WarmCall | undefined> {
    const { continuations, calls } = this.#options;
    const documents = phoneVendor(claims.vendor)?.documents.warmTransfer;
    const call = await continuations.recordOf(claims);
    if (documents === undefined || call === undefined) return undefined;
    if (!isOpenSince(call.metadata, startedAtMs)) return undefined;
    const next = await calls.findBySession(claims.orgId, continuations.nextSessionOf(claims));
    return next === undefined ? { claims, startedAtMs, call, documents } : undefined;
  }

  #voiceFor({ call }: WarmCall): Promise<BriefingVoice> {
    return this.#options.voices.of(call);
  }

  #resultUrl(base: string, claims: StreamClaims): string {
    return continuationUrl(base, this.#options.continuations.transferTokenFor(claims));
  }

  #sentBackUrl(base: string, claims: StreamClaims): string {
    return sentBackUrl(base, this.#options.continuations.transferTokenFor(claims));
  }

  /** The same at each server, and known to no one else. */
  #conferenceOf(claims: StreamClaims): string {
    return this.#options.continuations.conversationOf(claims).sessionId;
  }
}

/**
 * Why a call can have no warm transfer, as far as its record and the accounts say it. An organization's own account counts as well
 * as the installation's: the record does not say which of the two carries the call.
 */
export async function warmTransferRefusal(
  { metadata, orgId }: CallRecord,
  apis: CallControlApis,
  baseUrl: string | undefined,
): Promise<string | undefined> {
  const { phoneVendor: vendor = "", phoneCallId = "" } = callInfoIn(metadata) ?? {};
  const documents = phoneVendor(vendor)?.documents.warmTransfer;
  if (documents === undefined) return NO_WARM_TRANSFER;
  if (baseUrl === undefined) return NO_PUBLIC_ADDRESS;
  if (ownNumberOf({ metadata }) === undefined) return NO_OWN_NUMBER;
  const canWith = async (ownAccount: boolean) => {
    try {
      const api = await apis.of({ vendor, orgId, ownAccount });
      return api !== undefined && canTransferWarmly(api);
    } catch {
      // An account that cannot be read is none for the moment.
      return false;
    }
  };
  const isKnown = phoneCallId !== "" || documents.joinCaller !== undefined;
  const canStart = isKnown && ((await canWith(true)) || (await canWith(false)));
  return canStart ? undefined : NO_ACCOUNT;
}

/** Whether no other warm transfer of the call is under way. */
function isFree(metadata: JsonObject): boolean {
  const earlier = transferOf({ metadata });
  return earlier?.mode !== "warm" || !isOpenTransfer(earlier);
}

function introductionOf(summary: string, { phrases }: Pick<BriefingVoice, "phrases">): string {
  return [phrases.briefingGreeting, summary].filter((part) => part !== "").join(" ");
}

/** A tag with its region, which vendors' recognition wants. */
function telephoneLanguage(tag: string): string {
  try {
    const { language, region } = new Intl.Locale(tag).maximize();
    return language === "zh" ? "cmn-Hans-CN" : `${language}-${region ?? ""}`;
  } catch {
    return "en-US";
  }
}
