import { warmTransferJob } from "../../storage/jobs/job-record.js";
import type { JobStore } from "../../storage/jobs/job-store.js";
import type { CallRecord } from "../../storage/records.js";
import { isAcceptance } from "../conversation/lexicon.js";
import type { Logger } from "../log.js";
import type { StreamClaims } from "../security/stream-token.js";
import type { CallControl } from "../telephony/call-control.js";
import { callInfoIn } from "../telephony/call-info.js";
import type { WarmTransferDocuments } from "../telephony/call-instructions.js";
import { oneLine } from "../telephony/call-values.js";
import type { PlacedReport } from "../telephony/phone-vendor.js";
import { phoneVendor } from "../telephony/phone-vendors.js";
import { TRANSFER_RING_SEC, type TransferReport } from "../telephony/transfer-report.js";
import type { Clock } from "../time/clock.js";
import type { BriefingVoice, BriefingVoices } from "./briefing-voices.js";
import type { CallJournal } from "./call-journal.js";
import {
  type Continuations,
  continuationUrl,
  isOpenTransfer,
  transferNote,
  transferOf,
} from "./continuations.js";

/** Where the vendor asks what the called person hears, and tells what the person answers. */
export const BRIEFING_PATH = "/api/telephony/briefing";
/** Where the vendor gets the sound of it. */
export const BRIEFING_AUDIO_PATH = "/api/telephony/briefing.wav";
/** Where the vendor reports what becomes of the person's call. */
export const BRIEFING_STATUS_PATH = "/api/telephony/briefing-status";
/** How often a person is asked who answers nothing. */
const ASKED_MAX = 3;
const ACCEPT_KEY = "1";
const SPEECH_CHARACTERS_MAX = 200;
const E164 = /^\+[1-9]\d{6,14}$/;

export interface WarmTransfersOptions {
  readonly continuations: Pick<
    Continuations,
    | "recordOf"
    | "conversationOf"
    | "nextSessionOf"
    | "personTokenFor"
    | "transferTokenFor"
    | "stored"
  >;
  readonly calls: {
    findBySession(orgId: string, sessionId: string): Promise<CallRecord | undefined>;
  };
  readonly jobs: Pick<JobStore, "add">;
  readonly journal: Pick<CallJournal, "annotate">;
  readonly callControl: Pick<CallControl, "warmTransferApi" | "hangUp">;
  readonly voices: Pick<BriefingVoices, "of">;
  readonly clock: Clock;
  readonly log: Logger;
}

export interface WarmTransferOrder {
  /** E.164, or a SIP address. */
  readonly to: string;
  /** What the person hears about the call; may be empty. */
  readonly summary: string;
  /** `https://host` of this server as vendors reach it. */
  readonly base: string;
}

/** What the person has answered, in the vendor's words. */
export interface PersonAnswer {
  readonly digits: string;
  readonly speech: string;
  /** How often the person was asked. */
  readonly asked: number;
}

interface WarmCall {
  readonly claims: StreamClaims;
  readonly call: CallRecord;
  readonly documents: WarmTransferDocuments;
}

/**
 * Warm transfers: the caller waits in a conference of the vendor while a person is called, told about the call and asked. All
 * that is known of one is in the call's record, so that any server of the database answers the vendor, and a job brings the
 * caller back if none did in time.
 */
export class WarmTransfers {
  readonly #options: WarmTransfersOptions;

  constructor(options: WarmTransfersOptions) {
    this.#options = options;
  }

  /** Whether the vendor, its account and the call's own number allow one. */
  async mayStart(claims: StreamClaims): Promise<boolean> {
    if (phoneVendor(claims.vendor)?.documents.warmTransfer === undefined) return false;
    const { callControl, continuations } = this.#options;
    const api = await callControl.warmTransferApi(claims, claims.callerRef);
    if (api === undefined) return false;
    const call = await continuations.recordOf(claims);
    return call !== undefined && ownNumberOf(call) !== undefined;
  }

  /** The vendor has no warm transfer, or its account cannot: the caller is handed on without a question. */
  async becomesBlind(claims: StreamClaims): Promise<void> {
    const { continuations, journal } = this.#options;
    const call = await continuations.recordOf(claims);
    if (call === undefined) return;
    journal.annotate(call.id, { transfer: { mode: "blind", result: "pending" } });
    await continuations.stored();
  }

  /**
   * Calls the person and puts the caller on hold. False if the vendor refuses either: the caller is still with the agent. The
   * record and the job are stored before, so that a server that dies meanwhile loses no caller.
   */
  async start(claims: StreamClaims, { to, summary, base }: WarmTransferOrder): Promise<boolean> {
    const { callControl, continuations, journal, jobs, clock, log } = this.#options;
    const { vendor, orgId } = claims;
    const documents = phoneVendor(vendor)?.documents.warmTransfer;
    const api = await callControl.warmTransferApi(claims, claims.callerRef);
    const call = await continuations.recordOf(claims);
    const from = call && ownNumberOf(call);
    if (documents === undefined || api === undefined || call === undefined || from === undefined)
      return false;
    const startedAtMs = clock.epochMs();
    const resultUrl = this.#resultUrl(base, claims);
    const transfer = { to, mode: "warm", result: "dialing", summary, startedAtMs };
    journal.annotate(call.id, { transfer });
    await continuations.stored();
    let personCallId = "";
    try {
      const nextSessionId = continuations.nextSessionOf(claims);
      const caller = {
        vendor,
        callerRef: claims.callerRef,
        ownAccount: claims.ownAccount === true,
      };
      const payload = { callId: call.id, startedAtMs, nextSessionId, ...caller, resultUrl };
      await jobs.add([warmTransferJob(orgId, call.id, payload, startedAtMs)]);
      const token = continuations.personTokenFor(claims);
      personCallId = await api.place({
        to,
        from,
        answerUrl: `${base}${BRIEFING_PATH}?token=${token}`,
        statusUrl: `${base}${BRIEFING_STATUS_PATH}?token=${token}`,
        detectMachine: true,
        ringTimeoutSec: TRANSFER_RING_SEC,
      });
      journal.annotate(call.id, { transfer: { personCallId } });
      const document = documents.wait(this.#conferenceOf(claims), resultUrl);
      await api.redirect(claims.callerRef, document);
      log.info({ vendor, orgId, callId: call.id }, "a caller waits for a warm transfer");
      return true;
    } catch (error) {
      log.error({ vendor, orgId, callId: call.id, error }, "failed to start a warm transfer");
      // The person who answers meanwhile is told nothing.
      journal.annotate(call.id, { transfer: null });
      if (personCallId !== "") await callControl.hangUp(claims, personCallId);
      return false;
    }
  }

  /** The document for a person who has answered the telephone; undefined if no caller waits any more. */
  async answered(claims: StreamClaims, base: string): Promise<string | undefined> {
    const warm = await this.#waiting(claims);
    return warm && this.#ask(warm, base, 1);
  }

  /** The document for a person who was asked; undefined if the person's call is over with it. */
  async decided(
    claims: StreamClaims,
    { digits, speech, asked }: PersonAnswer,
    base: string,
  ): Promise<string | undefined> {
    const warm = await this.#waiting(claims);
    if (warm === undefined) return undefined;
    const { call, documents } = warm;
    const heard = oneLine(speech).slice(0, SPEECH_CHARACTERS_MAX);
    const { language } = await this.#voiceFor(warm);
    const isAccepted = digits === "" ? isAcceptance(language, heard) : digits === ACCEPT_KEY;
    if (isAccepted === true) {
      const { journal, continuations, clock, log } = this.#options;
      const startedAtMs = transferOf(call)?.startedAtMs ?? 0;
      const waitedSec = Math.max(0, Math.round((clock.epochMs() - startedAtMs) / 1_000));
      const acceptedBy = digits === "" ? "voice" : "key";
      journal.annotate(call.id, { transfer: { result: "answered", acceptedBy, waitedSec } });
      await continuations.stored();
      log.info({ callId: call.id, acceptedBy, waitedSec }, "a person accepted a warm transfer");
      return documents.join(this.#conferenceOf(claims));
    }
    if (isAccepted === undefined && asked < ASKED_MAX) return this.#ask(warm, base, asked + 1);
    const result = isAccepted === false ? "rejected" : "notAccepted";
    await this.#bringBack(warm, { result, reason: "", durationSec: undefined }, base);
    return undefined;
  }

  /** What the vendor reports about the person's call: its outcome, or who answered. */
  async reported(
    claims: StreamClaims,
    { answeredBy }: Pick<PlacedReport, "answeredBy">,
    report: TransferReport | undefined,
    base: string,
  ): Promise<void> {
    const { continuations, callControl, journal } = this.#options;
    const isMachine = /^(?:machine|fax)/.test(answeredBy);
    if (!isMachine && report === undefined) return;
    const warm = await this.#waiting(claims);
    if (warm === undefined) {
      const call = await continuations.recordOf(claims);
      const isJoined = call !== undefined && transferOf(call)?.result === "answered";
      const durationSec = report?.durationSec;
      if (isJoined && durationSec !== undefined)
        journal.annotate(call.id, { transfer: { durationSec } });
      return;
    }
    if (isMachine) {
      const reason = answeredBy.slice(0, 64);
      await this.#bringBack(warm, { result: "machine", reason, durationSec: undefined }, base);
      const personCallId = transferOf(warm.call)?.personCallId ?? "";
      if (personCallId !== "") await callControl.hangUp(claims, personCallId);
      return;
    }
    if (report === undefined) return;
    // Who answered and hung up has not accepted.
    const result = report.result === "answered" ? "notAccepted" : report.result;
    await this.#bringBack(warm, { ...report, result }, base);
  }

  /** The caller's part of the conference is over, or the caller has hung up: a person who still rings is not needed. */
  async callerLeft(claims: StreamClaims): Promise<void> {
    const { continuations, callControl } = this.#options;
    const call = await continuations.recordOf(claims);
    const transfer = call && transferOf(call);
    if (transfer?.mode !== "warm" || !isOpenTransfer(transfer)) return;
    if (transfer.personCallId !== "") await callControl.hangUp(claims, transfer.personCallId);
  }

  /** The sound of what the person hears, as a WAV file; undefined if TTS cannot say it now, or no caller waits any more. */
  async audio(claims: StreamClaims): Promise<Uint8Array | undefined> {
    const warm = await this.#waiting(claims);
    if (warm === undefined) return undefined;
    const voice = await this.#voiceFor(warm);
    return voice.speak(briefingText(warm.call, voice));
  }

  async #ask(warm: WarmCall, base: string, asked: number): Promise<string> {
    const token = this.#options.continuations.personTokenFor(warm.claims);
    const voice = await this.#voiceFor(warm);
    const text = briefingText(warm.call, voice);
    const audio = await voice.speak(text);
    return warm.documents.ask({
      ...(audio !== undefined && { audioUrl: `${base}${BRIEFING_AUDIO_PATH}?token=${token}` }),
      text,
      language: telephoneLanguage(voice.language),
      answerUrl: `${base}${BRIEFING_PATH}?token=${token}&asked=${asked}`,
    });
  }

  /** The outcome is stored first: the vendor asks for the caller's next document wherever it reaches a server. */
  async #bringBack({ claims, call, documents }: WarmCall, report: TransferReport, base: string) {
    const { continuations, callControl, journal, log } = this.#options;
    const { vendor, orgId } = claims;
    journal.annotate(call.id, transferNote(call, report));
    await continuations.stored();
    const facts = { vendor, orgId, callId: call.id, result: report.result };
    try {
      const api = await callControl.warmTransferApi(claims, claims.callerRef);
      await api?.redirect(claims.callerRef, documents.goOn(this.#resultUrl(base, claims)));
      log.info(facts, "a caller returns to the agent from a warm transfer");
    } catch (error) {
      log.error({ ...facts, error }, "a caller could not be brought back; the job retries");
    }
  }

  /** Undefined if the transfer has its outcome, or the caller is with the agent. */
  async #waiting(claims: StreamClaims): Promise<WarmCall | undefined> {
    const { continuations, calls } = this.#options;
    const documents = phoneVendor(claims.vendor)?.documents.warmTransfer;
    const call = await continuations.recordOf(claims);
    const transfer = call && transferOf(call);
    if (documents === undefined || call === undefined || transfer?.mode !== "warm")
      return undefined;
    if (!isOpenTransfer(transfer)) return undefined;
    const next = await calls.findBySession(claims.orgId, continuations.nextSessionOf(claims));
    return next === undefined ? { claims, call, documents } : undefined;
  }

  #voiceFor({ claims, call }: WarmCall): Promise<BriefingVoice> {
    return this.#options.voices.of(claims.orgId, call.agentId);
  }

  #resultUrl(base: string, claims: StreamClaims): string {
    return continuationUrl(base, this.#options.continuations.transferTokenFor(claims));
  }

  /** The same at each server, and known to no one else. */
  #conferenceOf(claims: StreamClaims): string {
    return this.#options.continuations.conversationOf(claims).sessionId;
  }
}

function briefingText(call: CallRecord, { phrases }: Pick<BriefingVoice, "phrases">): string {
  const { briefingGreeting, briefingQuestion } = phrases;
  const summary = transferOf(call)?.summary ?? "";
  return [briefingGreeting, summary, briefingQuestion].filter((part) => part !== "").join(" ");
}

/** The account's number in this call, which the person sees as the caller's. */
function ownNumberOf({ metadata }: CallRecord): string | undefined {
  const info = callInfoIn(metadata);
  const own = info?.direction === "outbound" ? info.from : info?.to;
  return own !== undefined && E164.test(own) ? own : undefined;
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
