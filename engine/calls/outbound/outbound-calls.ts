import type { RowClaim } from "../../../storage/calls/call-list-record.js";
import type { CallStore } from "../../../storage/calls/call-store.js";
import type { IdempotencyKey } from "../../../storage/calls/idempotency-store.js";
import { type Ending, MACHINE_ANSWERED } from "../../conversation/call-end.js";
import type { AnswererVerdict } from "../../conversation/events.js";
import type { Logger } from "../../log.js";
import { invalidFields, RequestError } from "../../request-error.js";
import type { OutboundClaims, OutboundTokens } from "../../security/outbound-token.js";
import type { CallInfo } from "../../telephony/call-info.js";
import { mergedValues } from "../../telephony/call-values.js";
import { numberRefusal } from "../../telephony/refused-numbers.js";
import { isOutcomeUnknown, TelephonyError } from "../../telephony/telephony-request.js";
import type { DialTargets } from "../../tenancy/agents/dial-targets.js";
import type { DoNotCall } from "../../tenancy/agents/do-not-call.js";
import type { PhoneNumbers } from "../../tenancy/agents/phone-numbers.js";
import type { Tenant } from "../../tenancy/tenant.js";
import type { CancelTimer, Clock } from "../../time/clock.js";
import { VendorError } from "../../vendors/contracts.js";
import type { Slots } from "../admission.js";
import type { CallJournal, PlacedCallStart } from "../call-journal.js";
import type { CallOpener } from "../call-opener.js";
import type { CallRefusedError, RefusalReason } from "../call-refused-error.js";
import { PLACING_MAX_MS } from "../idempotent-requests.js";
import type { LiveCall, LiveCalls } from "../live-calls.js";
import type {
  OutboundOrder,
  OutboundTelephony,
  PlacingVendor,
  QueuedCall,
} from "./outbound-telephony.js";
import {
  CallNotAcceptedError,
  endingOf,
  type HandedOver,
  isMachine,
  type MachineDetection,
  NO_OUTCOME,
  NOT_CONNECTED,
  type OutboundReport,
  type PlacedCalls,
  RINGING,
  verdictOf,
} from "./placed-calls.js";

/** Only the organization can change these; all others pass by themselves. */
const LASTING: ReadonlySet<RefusalReason> = new Set([
  "agentNotFound",
  "providerUnavailable",
  "modelNotAllowed",
]);

/** A call that uses the slot lasts minutes, and a vendor that is down seldom less; no better estimate exists. */
const RETRY_AFTER_SEC = 10;

/** Why no call would be opened, for the client that places one. */
export function placingRefused({ code, reason, message }: CallRefusedError): RequestError {
  const retryAfterSec = RETRY_AFTER_SEC;
  return new RequestError(code, message, LASTING.has(reason) ? {} : { retryAfterSec });
}

/** All concurrent calls of the plan are in use. */
export function acceptedCalls(callsMax: number): RequestError {
  const message = `the plan allows ${callsMax} calls at the same time`;
  return new RequestError("calls_limit_reached", message, { retryAfterSec: RETRY_AFTER_SEC });
}

/** Translates the telephony vendor's error for the client that places the call; other errors are returned unchanged. */
export function placingFailed(error: unknown, log: Logger): unknown {
  if (!(error instanceof VendorError)) return error;
  const what = isOutcomeUnknown(error)
    ? "unknown whether a call was placed: the vendor's response was lost, or does not say it"
    : "a call could not be placed";
  log.warn({ vendor: error.vendor, reason: error.message }, what);
  const { retryAfterMs = RETRY_AFTER_SEC * 1_000 } = error;
  const options = { cause: error, retryAfterSec: Math.ceil(retryAfterMs / 1_000) };
  if (!(error instanceof TelephonyError) || error.vendorCode === undefined || error.retryable) {
    return new RequestError(
      "telephony_unavailable",
      "the telephony vendor does not take calls now",
      options,
    );
  }
  const words = `the telephony vendor refused the call with its error ${error.vendorCode}`;
  const isOrder = error.fault === "refused";
  return isOrder
    ? new RequestError("call_rejected", words, { cause: error })
    : new RequestError("telephony_unavailable", words, options);
}

/** The vendor's own default: some ten rings. */
const RING_TIMEOUT_SEC = 60;
/** A call that waits in the vendor's queue, rings, and is answered has been reported by then. */
const OUTCOME_MAX_MS = 5 * 60 * 1_000;
/** A server that stops waits no longer for a call without a stream: it has rung for as long as it may. */
const STOPPING_OUTCOME_MAX_MS = (RING_TIMEOUT_SEC + 5) * 1_000;

/** More than a call has: it continues after three breaks and five failed transfers at most. */
const BREAKS_MAX = 10;

/** The vendor's terms: `human`, `machine_start`, `fax`, `unknown` and so on. */
const ANSWERED_BY = /^[a-z_]{1,32}$/;

export interface OutboundDeps {
  readonly telephony: Pick<OutboundTelephony, "vendorFor" | "hangUp">;
  readonly tokens: OutboundTokens;
  readonly opener: Pick<CallOpener, "refusal" | "preCall" | "leavesMessages" | "voiceFault">;
  /** Undefined with a simulated vendor: any calling number is allowed. */
  readonly phoneNumbers: Pick<PhoneNumbers, "isAllowed" | "listOf"> | undefined;
  /** Undefined with a simulated vendor: any called number is allowed. */
  readonly dialTargets: Pick<DialTargets, "mayReach" | "listOf"> | undefined;
  readonly doNotCall: Pick<DoNotCall, "has">;
  readonly slots: Slots;
  readonly liveCalls: LiveCalls;
  readonly journal: CallJournal;
  readonly calls: Pick<CallStore, "findById">;
  readonly clock: Clock;
  readonly newId: () => string;
  readonly log: Logger;
}

/** A call that has not reached its agent yet. The plans' slots limit their number. */
interface Ringing {
  readonly claims: OutboundClaims;
  cancelTimer: CancelTimer;
  readonly placedAtMs: number;
  /** The vendor's id of the call, once known. */
  callRef: string | undefined;
  callInfo: CallInfo | undefined;
  /** Resolves when the organization's service has responded, or its time is over; never rejects. */
  preCall: Promise<void>;
  readonly over: AbortController;
  readonly detection: MachineDetection;
  /** It moved to another worker. */
  isHandedOver: boolean;
}

export interface OutboundNumbers {
  /** Calls can be placed at all. */
  readonly isConfigured: boolean;
  /** The vendor is simulated, and so is the callee: any numbers may be used. */
  readonly isSimulated: boolean;
  readonly numbers: readonly string[];
  /** Number prefixes, and SIP addresses. */
  readonly targets: readonly string[];
}

/** Outbound calls: placed at the telephony vendor, answered over the media stream, or recorded as failed. */
export class OutboundCalls implements PlacedCalls {
  readonly #deps: OutboundDeps;
  readonly #ringing = new Map<string, Ringing>();
  /** Calls that are being opened. */
  readonly #connecting = new Set<string>();
  /** Who answered (a human or a machine), for calls that have no record yet. */
  readonly #answeredBy = new Map<string, string>();

  constructor(deps: OutboundDeps) {
    this.#deps = deps;
  }

  get ringingCount(): number {
    return this.#ringing.size;
  }

  /** The numbers that the organization's agents may call from and to. */
  async numbers({ organization }: Tenant): Promise<OutboundNumbers> {
    const { telephony, phoneNumbers, dialTargets } = this.#deps;
    const [numbers = [], targets = []] = await Promise.all([
      phoneNumbers?.listOf(organization.id),
      dialTargets?.listOf(organization.id),
    ]);
    const isSimulated = phoneNumbers === undefined || dialTargets === undefined;
    return { isConfigured: telephony !== undefined, isSimulated, numbers, targets };
  }

  /**
   * Takes the call's slot while it rings. Rejects with a RequestError: limits, agent, settings, the vendor's
   * refusal. `row`: of a call list, for which the call is placed if none was placed meanwhile, otherwise
   * `conflict`. `key`: of the request, which is stored with the call; `UniqueViolationError` if another request has it.
   */
  async place(
    tenant: Tenant,
    order: OutboundOrder,
    row?: ListedCall,
    key?: IdempotencyKey,
  ): Promise<QueuedCall> {
    const { telephony, opener, newId, log } = this.#deps;
    const orgId = tenant.organization.id;
    const placing = await telephony.vendorFor(orgId, order);
    if ("missing" in placing) throw notConfigured(order.vendor, placing.missing);
    const { agentId } = order;
    const refusal = await opener.refusal({ tenant, agentId });
    if (refusal !== undefined) throw placingRefused(refusal);
    await this.#requireVoice(tenant, order);
    await this.#requireNumber(orgId, order.from);
    await this.#requireTarget(orgId, order.to);
    const { vendor, ownAccount } = placing;
    const own = ownAccount ? { ownAccount } : {};
    const claims = { callId: row?.callId ?? newId(), orgId, agentId, vendor, ...own };
    const { from, to } = order;
    const values = mergedValues(order);
    const { apiKeyId } = tenant;
    const placedBy = apiKeyId === undefined ? {} : { apiKeyId };
    const callInfo = { direction: "outbound", from, to, ...placedBy, ...values } as const;
    const detection = await this.#detectionFor(tenant, order, placing);
    const placed = { id: claims.callId, agentId, status: "queued" } as const;
    const ringing = await this.#reserve(tenant, claims, { callInfo, detection });
    let isReplyLost = false;
    try {
      const start = { ...claims, historyKey: newId(), callInfo };
      if (isLate(row, this.#deps.clock)) throw rowTaken();
      if (key !== undefined) await this.#placingOnce(start, key, placed);
      else if (!(await this.#deps.journal.placing(start, row))) throw rowTaken();
      // Before that, the organization's service would hear of a call that may never be placed.
      ringing.preCall = this.#expireAt(tenant, ringing, callInfo);
      const token = this.#deps.tokens.mint(claims);
      const detectMessageEnd = detection === "leaveMessage";
      const callRef = placing.place({ ...order, detectMessageEnd }, token, RING_TIMEOUT_SEC);
      this.#placed(ringing, await callRef);
    } catch (error) {
      const failure = placingFailed(error, log);
      // Otherwise the vendor has placed the call: it is answered by now, or recorded as over. If
      // that is unknown, the vendor reports it, or the call is recorded as failed without a report.
      // An error that invites a retry could call the person twice.
      if (this.#ringing.has(claims.callId) && !isOutcomeUnknown(error)) {
        this.#release(claims.callId);
        this.#deps.journal.notPlaced(claims.callId, key);
        throw failure;
      }
      isReplyLost = this.#ringing.has(claims.callId);
    }
    if (isReplyLost) return { ...placed, isReplyLost };
    log.info({ callId: claims.callId, orgId, agentId, vendor }, "a call was placed");
    return placed;
  }

  #placingOnce(start: PlacedCallStart, key: IdempotencyKey, { id, ...placed }: QueuedCall) {
    const { journal, clock } = this.#deps;
    const pendingUntilMs = clock.epochMs() + PLACING_MAX_MS;
    return journal.placingOnce(start, key, {
      subjectId: id,
      answer: { id, ...placed },
      pendingUntilMs,
    });
  }

  async #requireVoice(tenant: Tenant, { agentId, overrides }: OutboundOrder): Promise<void> {
    const voice = overrides?.voice;
    if (voice === undefined) return;
    const message = await this.#deps.opener.voiceFault({ tenant, agentId }, voice);
    if (message !== undefined) throw invalidFields([{ path: "overrides.voice", message }]);
  }

  /** The server stops, and waits for its calls: no longer than a telephone rings for those that have no stream. */
  stop(): void {
    const { clock } = this.#deps;
    for (const ringing of this.#ringing.values()) {
      const leftMs = ringing.placedAtMs + STOPPING_OUTCOME_MAX_MS - clock.monotonicMs();
      ringing.cancelTimer();
      ringing.cancelTimer = clock.after(Math.max(0, leftMs), () =>
        this.#giveUp(ringing, NO_OUTCOME),
      );
    }
  }

  /** Whether the call is ringing in this process. */
  isRinging(callId: string): boolean {
    return this.#ringing.has(callId);
  }

  /** Whether the vendor's reports about the call concern this process. */
  holds(callId: string): boolean {
    return this.#isOnItsWay(callId) || this.#deps.liveCalls.has(callId);
  }

  /** The placed call that an answer with this token belongs to, while the call is ringing. */
  answering(token: string): OutboundClaims | undefined {
    const claims = this.#deps.tokens.verify(token);
    return claims !== undefined && this.#ringing.has(claims.callId) ? claims : undefined;
  }

  /** Hands the call to another worker of the server, with its slot; undefined if it is not ringing here. */
  handOver(callId: string, orgId: string): HandedOver | undefined {
    const ringing = this.#ringing.get(callId);
    if (ringing === undefined || ringing.claims.orgId !== orgId) return undefined;
    ringing.cancelTimer();
    ringing.isHandedOver = true;
    // The worker that takes the call repeats the request if there is no response yet.
    ringing.over.abort();
    this.#ringing.delete(callId);
    const answeredBy = this.#takeAnswer(callId);
    this.#deps.liveCalls.remove(callId);
    const { claims, callRef, callInfo, detection } = ringing;
    return { claims, callRef, callInfo, answeredBy, detection };
  }

  /** Adopts a call that another worker of the server has handed over, with its slot. */
  adopt({ claims, callRef, callInfo, answeredBy, detection = "none" }: HandedOver): void {
    this.#wait(claims, callRef, { callInfo, detection });
    if (answeredBy !== "") this.#answeredBy.set(claims.callId, answeredBy);
  }

  /**
   * The call's media stream has connected: `open` opens the call, in the slot that it already holds. Undefined if
   * no such call is ringing; rejects as `open` does, and the call is then recorded as failed.
   */
  async connect<Session extends LiveCall>(
    callId: string,
    orgId: string,
    open: (callInfo: CallInfo | undefined, detection: MachineDetection) => Promise<Session>,
  ): Promise<Session | undefined> {
    const ringing = this.#ringing.get(callId);
    if (ringing === undefined || ringing.claims.orgId !== orgId) return undefined;
    this.#ringing.delete(callId);
    ringing.cancelTimer();
    this.#connecting.add(callId);
    try {
      await ringing.preCall;
      const session = await open(infoOf(ringing), ringing.detection);
      const answeredBy = this.#takeAnswer(callId);
      deliverVerdict(session, verdictOf(answeredBy));
      this.#noteAnswer(callId, answeredBy);
      return session;
    } catch (error) {
      this.#fail(ringing, error instanceof CallNotAcceptedError ? error.ending : NOT_CONNECTED);
      throw error;
    } finally {
      this.#connecting.delete(callId);
    }
  }

  /** A report from the vendor about a call; reports may repeat and arrive in any order. False for an invalid token. */
  async report(token: string, report: OutboundReport): Promise<boolean> {
    const claims = this.#deps.tokens.verify(token);
    if (claims === undefined) return false;
    this.take(claims, report);
    const current = await this.continuationOf(claims, report);
    if (current !== undefined) this.take(current, report);
    return true;
  }

  /**
   * The claims of the call with which a placed call goes on after a break, if the report says who has answered. Undefined if there is
   * none, or if the placed call itself is here.
   */
  async continuationOf(
    claims: OutboundClaims,
    { answeredBy }: OutboundReport,
  ): Promise<OutboundClaims | undefined> {
    if (!ANSWERED_BY.test(answeredBy) || this.holds(claims.callId)) return undefined;
    let { callId } = claims;
    for (let breaks = 0; breaks < BREAKS_MAX; breaks += 1) {
      const call = await this.#deps.calls.findById(claims.orgId, callId);
      const next = call?.metadata["continuedBy"];
      if (typeof next !== "string") break;
      callId = next;
    }
    return callId === claims.callId ? undefined : { ...claims, callId };
  }

  /** As `report`, after the token was verified. */
  take(claims: OutboundClaims, report: OutboundReport): void {
    const ringing = this.#ringing.get(claims.callId);
    // The response to the request may have been lost, and a call without an id could not be hung up.
    if (ringing !== undefined) ringing.callRef ??= report.callInfo?.phoneCallId;
    if (ringing !== undefined && report.status === RINGING) {
      this.#deps.journal.rings({ ...claims, channel: "phone", callInfo: infoOf(ringing) });
    }
    const ending = endingOf(report);
    if (ending !== undefined) this.#end(claims, ending, report);
    const { callId } = claims;
    const { answeredBy } = report;
    if (!ANSWERED_BY.test(answeredBy)) return;
    if (this.#isOnItsWay(callId)) {
      this.#answeredBy.set(callId, answeredBy);
      return;
    }
    const session = this.#deps.liveCalls.find(callId);
    if (session !== undefined) deliverVerdict(session, verdictOf(answeredBy));
    this.#noteAnswer(callId, answeredBy);
  }

  /** A machine ends only a call that has no conversation, which decides that itself. */
  #end(claims: OutboundClaims, ending: Ending, { callInfo, answeredBy }: OutboundReport): void {
    const { callId } = claims;
    const ringing = this.#ringing.get(callId);
    const isVerdict = isMachine(verdictOf(answeredBy));
    if (ringing !== undefined) {
      // The stream that the message needs is on its way.
      if (isVerdict && ringing.detection === "leaveMessage") return;
      if (isVerdict) this.#hangUp(ringing);
      this.#fail(ringing, ending);
    } else if (!this.#connecting.has(callId) && !this.#deps.liveCalls.has(callId)) {
      this.#record(claims, ending, callInfo);
    }
  }

  #isOnItsWay(callId: string): boolean {
    return this.#ringing.has(callId) || this.#connecting.has(callId);
  }

  async #detectionFor(
    tenant: Tenant,
    { agentId, detectMachine }: OutboundOrder,
    { detectsMachines }: PlacingVendor,
  ): Promise<MachineDetection> {
    if (!detectMachine || !detectsMachines) return "none";
    const leavesMessage = await this.#deps.opener.leavesMessages({ tenant, agentId });
    return leavesMessage ? "leaveMessage" : "hangUp";
  }

  #takeAnswer(callId: string): string {
    const answeredBy = this.#answeredBy.get(callId) ?? "";
    this.#answeredBy.delete(callId);
    return answeredBy;
  }

  /** A person or a machine, as the vendor reports; also for a call that continues. */
  #noteAnswer(callId: string, answeredBy: string): void {
    if (answeredBy !== "") this.#deps.journal.annotate(callId, { answeredBy });
  }

  async #requireNumber(orgId: string, number: string): Promise<void> {
    const { phoneNumbers } = this.#deps;
    if (phoneNumbers === undefined || (await phoneNumbers.isAllowed(orgId, number))) return;
    const message =
      "from: expected a number that the platform's administrator has allowed this organization to call from";
    throw new RequestError("caller_number_not_allowed", message);
  }

  async #requireTarget(orgId: string, number: string): Promise<void> {
    const refusal = numberRefusal(number);
    if (refusal !== undefined) {
      throw new RequestError("target_not_allowed", `to: agents cannot call ${refusal} numbers`);
    }
    const { dialTargets, doNotCall } = this.#deps;
    if (await doNotCall.has(orgId, number)) {
      const message = "to: the number is on the organization's do-not-call list";
      throw new RequestError("do_not_call", message);
    }
    if (dialTargets === undefined || (await dialTargets.mayReach(orgId, number))) return;
    const message =
      "to: expected a number that the platform's administrator has allowed this organization to call";
    throw new RequestError("target_not_allowed", message);
  }

  async #reserve(
    { organization, plan }: Tenant,
    claims: OutboundClaims,
    about: Pick<Ringing, "callInfo" | "detection">,
  ): Promise<Ringing> {
    const { maxConcurrentCalls } = plan.limits;
    if (!(await this.#deps.slots.acquire(organization.id, claims.callId, maxConcurrentCalls))) {
      throw acceptedCalls(maxConcurrentCalls);
    }
    return this.#wait(claims, undefined, about);
  }

  #wait(
    claims: OutboundClaims,
    callRef: string | undefined,
    { callInfo, detection }: Pick<Ringing, "callInfo" | "detection">,
  ): Ringing {
    const { liveCalls, clock } = this.#deps;
    const { callId } = claims;
    const cancelTimer = clock.after(OUTCOME_MAX_MS, () => this.#giveUp(call, NO_OUTCOME));
    const over = new AbortController();
    const preCall = Promise.resolve();
    const placedAtMs = clock.monotonicMs();
    const state = { isHandedOver: false, preCall, over, placedAtMs };
    const call: Ringing = { claims, cancelTimer, callRef, callInfo, detection, ...state };
    this.#ringing.set(callId, call);
    // It counts as a call from here on: a server that stops waits for it, and then hangs up.
    liveCalls.add({ callId, end: (ending) => this.#giveUp(call, ending) });
    return call;
  }

  #giveUp(ringing: Ringing, ending: Ending): void {
    if (this.#ringing.get(ringing.claims.callId) !== ringing) return;
    this.#hangUp(ringing);
    this.#fail(ringing, ending);
  }

  /** Requested while it rings, so that the callee does not wait for the service. */
  async #expireAt(tenant: Tenant, ringing: Ringing, callInfo: CallInfo): Promise<void> {
    const { callId, agentId } = ringing.claims;
    const { signal } = ringing.over;
    const answered = await this.#deps.opener.preCall(
      { tenant, agentId },
      { callId, callInfo },
      signal,
    );
    if (!signal.aborted) ringing.callInfo = { ...callInfo, ...mergedValues(callInfo, answered) };
  }

  #placed(ringing: Ringing, callRef: string): void {
    const { callId } = ringing.claims;
    ringing.callRef = callRef;
    const isWaitedFor = ringing.isHandedOver || this.#deps.liveCalls.has(callId);
    if (!isWaitedFor) this.#cancel(ringing.claims, callRef);
  }

  #hangUp({ claims, callRef }: Ringing): void {
    if (callRef !== undefined) this.#cancel(claims, callRef);
  }

  #cancel(claims: OutboundClaims, callRef: string): void {
    const { callId } = claims;
    this.#deps.telephony.hangUp(claims, callRef).catch((error: unknown) => {
      this.#deps.log.error({ callId, error }, "a placed call could not be hung up");
    });
  }

  #fail(ringing: Ringing, ending: Ending): void {
    const { claims } = ringing;
    const answeredBy = this.#takeAnswer(claims.callId);
    this.#release(claims.callId);
    this.#record(claims, ending, infoOf(ringing));
    this.#noteAnswer(claims.callId, answeredBy);
  }

  #release(callId: string): void {
    const ringing = this.#ringing.get(callId);
    ringing?.cancelTimer();
    ringing?.over.abort();
    this.#ringing.delete(callId);
    this.#answeredBy.delete(callId);
    this.#deps.liveCalls.remove(callId);
    this.#deps.slots.release(callId);
  }

  /** Does nothing if the call already has its record: a repeated report, or one after a conversation. */
  #record(claims: OutboundClaims, ending: Ending, callInfo: CallInfo | undefined): void {
    const { journal, newId } = this.#deps;
    const { callId } = claims;
    const ids = { ...claims, sessionId: callId, historyKey: newId() };
    journal.recordFailed({ ...ids, channel: "phone", callInfo }, ending);
  }
}

/** A call of a call list, whose id is known before it is placed. */
export interface ListedCall extends RowClaim {
  readonly callId: string;
  /** The call is not placed later, since the hours may be over in which the person may be called. */
  readonly untilMs: number;
}

/** This process was stopped for a while, or the request waited for it. */
function isLate(row: ListedCall | undefined, clock: Clock): boolean {
  return row !== undefined && clock.epochMs() > row.untilMs;
}

function rowTaken(): RequestError {
  return new RequestError("conflict", "the list has stopped, or the person has a call already");
}

/** A session that is not open yet cannot say anything. */
function deliverVerdict(session: LiveCall, verdict: AnswererVerdict | undefined): void {
  if (verdict === undefined) return;
  if (session.answeredBy !== undefined) session.answeredBy(verdict);
  else if (isMachine(verdict)) session.end(MACHINE_ANSWERED);
}

function notConfigured(vendor: string | undefined, missing: readonly string[]): RequestError {
  const where = vendor === undefined ? "" : ` at ${vendor}`;
  const message =
    missing.length === 0
      ? `calls cannot be placed${where}: it has no API for that`
      : `calls cannot be placed${where} before the platform sets ${missing.join(", ")}`;
  return new RequestError("not_configured", message);
}

function infoOf({ claims, callInfo, callRef }: Ringing): CallInfo | undefined {
  if (callInfo === undefined) return undefined;
  const phoneCallId = callRef === undefined ? {} : { phoneCallId: callRef };
  return { ...callInfo, phoneVendor: claims.vendor, ...phoneCallId };
}
