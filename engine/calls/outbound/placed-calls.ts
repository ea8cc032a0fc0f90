import { ParleyError } from "../../../storage/parley-error.js";
import { type Ending, MACHINE_ANSWERED } from "../../conversation/call-end.js";
import type { AnswererVerdict } from "../../conversation/events.js";
import type { OutboundClaims } from "../../security/outbound-token.js";
import type { CallInfo } from "../../telephony/call-info.js";
import type { MaybePromise } from "../../time/maybe-promise.js";
import type { LiveCall } from "../live-calls.js";

/** A vendor's report about a placed call; unknown values are ignored. */
export interface OutboundReport {
  /** `completed`, `busy`, `no-answer`, `failed`, `canceled`; others are intermediate. */
  readonly status: string;
  /** `human`, `machine_start`, `fax`, `unknown` and so on, or empty. */
  readonly answeredBy: string;
  /** The numbers, for the record of a call of which nothing else is known any more. */
  readonly callInfo?: CallInfo | undefined;
}

/** As a status: the callee's telephone is ringing. */
export const RINGING = "ringing";

const BUSY: Ending = { reason: "busy", status: "failed", message: "the line was busy" };
const NO_ANSWER: Ending = { reason: "noAnswer", status: "failed", message: "nobody answered" };
const VENDOR_FAILED: Ending = {
  reason: "vendorFailed",
  status: "failed",
  message: "the telephony vendor could not connect the call",
};

/** Answered, and over before its audio arrived. */
export const NOT_CONNECTED: Ending = {
  reason: "notConnected",
  status: "failed",
  message: "the call ended before it reached the agent",
};

/** It is unknown whether the person was called, so that another call could be the second one. */
export const NO_OUTCOME: Ending = {
  reason: "outcomeUnknown",
  status: "failed",
  message: "the telephony vendor reported no outcome of the call",
};

const ENDING_BY_STATUS: ReadonlyMap<string, Ending> = new Map([
  ["busy", BUSY],
  ["no-answer", NO_ANSWER],
  ["canceled", NO_ANSWER],
  ["failed", VENDOR_FAILED],
  ["completed", NOT_CONNECTED],
]);

/** How a call ends that has not reached its agent; undefined while it may still. */
export function endingOf({ status, answeredBy }: OutboundReport): Ending | undefined {
  return isMachine(verdictOf(answeredBy)) ? MACHINE_ANSWERED : ENDING_BY_STATUS.get(status);
}

/** Who has answered, in the vendor's word; undefined where it has not said. */
export function verdictOf(answeredBy: string): AnswererVerdict | undefined {
  if (answeredBy === "") return undefined;
  if (answeredBy === "fax") return { answerer: "fax", isGreetingOver: false };
  if (answeredBy.startsWith("machine")) {
    return { answerer: "machine", isGreetingOver: answeredBy.startsWith("machine_end") };
  }
  const answerer = answeredBy.startsWith("human") ? "human" : "unknown";
  return { answerer, isGreetingOver: false };
}

export function isMachine(verdict: AnswererVerdict | undefined): boolean {
  return verdict?.answerer === "machine" || verdict?.answerer === "fax";
}

/** What becomes of a placed call that a machine answers; `none`: its vendor does not look for machines. */
export const MACHINE_DETECTIONS = ["none", "hangUp", "leaveMessage"] as const;
export type MachineDetection = (typeof MACHINE_DETECTIONS)[number];

/** The opener of a placed call rejects with it if the call has to be recorded with that ending. */
export class CallNotAcceptedError extends ParleyError {
  override readonly name = "CallNotAcceptedError";
  readonly code = "call_refused";
  readonly ending: Ending;

  constructor(ending: Ending) {
    super(ending.message);
    this.ending = ending;
  }
}

/** The placed calls for the vendor's requests, in whichever worker of the server they are. */
export interface PlacedCalls {
  answering(token: string): MaybePromise<OutboundClaims | undefined>;
  connect<Session extends LiveCall>(
    callId: string,
    orgId: string,
    open: (callInfo: CallInfo | undefined, detection: MachineDetection) => Promise<Session>,
  ): Promise<Session | undefined>;
  report(token: string, report: OutboundReport): Promise<boolean>;
}

/** A ringing call on its way from one worker to another. */
export interface HandedOver {
  readonly claims: OutboundClaims;
  readonly callRef: string | undefined;
  /** Omitted by releases that did not keep it. */
  readonly callInfo?: CallInfo | undefined;
  /** Empty until the vendor has reported it. */
  readonly answeredBy: string;
  /** Omitted by releases that did not keep it. */
  readonly detection?: MachineDetection | undefined;
}
