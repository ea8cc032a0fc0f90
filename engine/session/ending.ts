/** Why a call ends. The edge maps it to a close code; the call record keeps it. */
export type EndReason =
  | "callerLeft"
  | "agentHungUp"
  | "transferred"
  | "durationLimit"
  | "callerIdle"
  | "callerTooSlow"
  | "callerProtocol"
  | "languageModelFailed"
  | "speechFailed"
  | "listeningFailed"
  | "serverStopping"
  | "overloaded"
  | "internalError"
  | "busy"
  | "noAnswer"
  | "vendorFailed"
  | "machine";

export interface Ending {
  readonly reason: EndReason;
  readonly status: "completed" | "failed";
  /** For the caller and the operator: no vendor's words, no transcript. */
  readonly message: string;
  /** The caller's leg goes on to this number or SIP address instead of being hung up. */
  readonly transferTo?: string;
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
  reason: "listeningFailed",
  status: "failed",
  message: "speech recognition failed",
};
