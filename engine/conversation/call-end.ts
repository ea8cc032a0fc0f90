/** Why a call ends. The API maps it to a close code; the call record stores it. */
export type EndReason = (typeof END_REASONS)[number];

export const END_REASONS = [
  "callerLeft",
  "agentHungUp",
  "transferred",
  "durationLimit",
  "suspended",
  "organizationEnded",
  "callerIdle",
  "callerTooSlow",
  "callerTooFast",
  "callerProtocol",
  "languageModelFailed",
  "speechFailed",
  "sttFailed",
  "serverStopping",
  "overloaded",
  "internalError",
  "busy",
  "noAnswer",
  "vendorFailed",
  "notConnected",
  "outcomeUnknown",
  "machine",
  "notPutThrough",
  "unsupportedAudio",
] as const;

/** What became of a placed call, for whoever decides whether to call again. */
export const CALL_OUTCOMES = ["answered", "busy", "noAnswer", "machine", "failed"] as const;
export type CallOutcome = (typeof CALL_OUTCOMES)[number];

/** A person listens to some 40 s at most before the question. */
export const BRIEFING_CHARACTERS_MAX = 500;

export interface Ending {
  readonly reason: EndReason;
  readonly status: "completed" | "failed";
  /** Text for the caller and the operator, without a vendor's words or transcript. */
  readonly message: string;
  /** The caller's leg is transferred to this number or SIP address instead of being hung up. */
  readonly transferTo?: string;
  /** What the person of a transfer sees: a number, or `caller`. Left out: the number of the call. */
  readonly callerId?: string;
  /** What an answering machine got of the agent's message. */
  readonly voicemail?: { readonly messageLeft: boolean; readonly text: string };
  /** A warm transfer: the person who is called hears this about the call, and accepts before the caller is connected. */
  readonly briefing?: string;
  /** A warm transfer that a member of the organization has ordered: if it cannot start, the call goes on with the agent. */
  readonly neverBlind?: true;
}

/** The order of a transfer. */
export interface CallTransfer {
  /** E.164, or a SIP address. */
  readonly to: string;
  /** What the person sees: a number, or `caller`. Left out: the number of the call. */
  readonly callerId?: string;
  /** A warm transfer, with what the person hears, where the vendor has one; elsewhere a blind one, unless `neverBlind`. */
  readonly briefing?: string;
  readonly neverBlind?: true;
}

/** `status`: that of the call's record, which may be worse than the ending's. */
export function outcomeOf(
  { reason }: Pick<Ending, "reason">,
  status: Ending["status"],
): CallOutcome {
  if (reason === "notPutThrough") return "machine";
  if (reason === "busy" || reason === "noAnswer" || reason === "machine") return reason;
  return status === "failed" ? "failed" : "answered";
}

/** The agent chose to end the call: the caller can still continue it by speaking. */
const REVOCABLE: ReadonlySet<EndReason> = new Set(["agentHungUp", "transferred", "callerIdle"]);

export function isRevocable(ending: Ending): boolean {
  return REVOCABLE.has(ending.reason);
}

/** The call broke off, and its caller may still be there. */
const BREAKS: ReadonlySet<string> = new Set<EndReason>([
  "callerLeft",
  "internalError",
  "overloaded",
  "serverStopping",
]);

export function isBreak({ reason }: { readonly reason: string }): boolean {
  return BREAKS.has(reason);
}

export const AGENT_HUNG_UP: Ending = {
  reason: "agentHungUp",
  status: "completed",
  message: "the agent ended the call",
};

export const CALLER_LEFT: Ending = {
  reason: "callerLeft",
  status: "completed",
  message: "the caller hung up",
};

export const ORGANIZATION_ENDED: Ending = {
  reason: "organizationEnded",
  status: "completed",
  message: "the organization ended the call",
};

/** `to`: E.164, or a SIP address. `briefing`: for a warm transfer. */
export function transferredByOrganization(
  to: string,
  { briefing, callerId }: Pick<Ending, "briefing" | "callerId"> = {},
): Ending {
  const message = "the organization transferred the call";
  const how = {
    ...(briefing !== undefined && ({ briefing, neverBlind: true } as const)),
    ...(callerId !== undefined && { callerId }),
  };
  return { reason: "transferred", status: "completed", message, transferTo: to, ...how };
}

export const MACHINE_ANSWERED: Ending = {
  reason: "machine",
  status: "failed",
  message: "an answering machine took the call",
};

/** The agent has left its message. */
export const MESSAGE_LEFT: Ending = {
  reason: "machine",
  status: "completed",
  message: "the agent left a message on an answering machine",
};

/** A machine has screened the call, and no person has come. */
export const NOT_PUT_THROUGH: Ending = {
  reason: "notPutThrough",
  status: "failed",
  message: "a call screener answered, and put the call through to nobody",
};

export const CALLER_SILENT: Ending = {
  reason: "callerIdle",
  status: "completed",
  message: "the caller said nothing",
};

export const CALLER_TOO_FAST: Ending = {
  reason: "callerTooFast",
  status: "failed",
  message: "audio arrived more than 60 s ahead of real time",
};

export const LANGUAGE_MODEL_FAILED: Ending = {
  reason: "languageModelFailed",
  status: "failed",
  message: "the language model failed",
};

export const SPEECH_FAILED: Ending = {
  reason: "speechFailed",
  status: "failed",
  message: "speech synthesis failed",
};

export const LISTENING_FAILED: Ending = {
  reason: "sttFailed",
  status: "failed",
  message: "speech recognition failed",
};

/** `format`: the name from the vendor's stream, in short plain text. */
export function unsupportedAudio(format: string): Ending {
  const message = `the telephony vendor sends audio that cannot be decoded here: ${format}`;
  return { reason: "unsupportedAudio", status: "failed", message };
}
