import type {
  ChatFault,
  DeepgramFault,
  SandboxFaults,
  SpeechFault,
} from "../../engine/sandbox/faults.js";

/** One way in which one vendor of a call fails, and when. */
export interface FaultRow {
  readonly kind: "llm" | "tts" | "stt";
  readonly fault: string;
  /** Whether it strikes before the call begins, or in it after a turn that went well. */
  readonly stage: "before the call" | "in the call";
  readonly faults: Partial<SandboxFaults>;
}

/** Every vendor that is asked over HTTP has these. */
const ASKED = [
  "unauthorized",
  "badRequest",
  "rateLimited",
  "quotaExceeded",
  "serverError",
  "disconnectBeforeFirstByte",
  "disconnectMidStream",
] as const;

const CHAT: readonly ChatFault[] = [
  ...ASKED,
  "notFound",
  "overloaded",
  "errorMidStream",
  "endWithoutDone",
  "garbageJson",
  "emptyReply",
  "stallBeforeFirstByte",
  "stallMidStream",
];
const SPEECH: readonly SpeechFault[] = [
  ...ASKED,
  "emptyAudio",
  "garbage",
  "stallBeforeFirstByte",
  "stallMidStream",
];
/** Those of a handshake strike only where there is one: before the call. */
const HANDSHAKE: readonly DeepgramFault[] = [
  "unauthorized",
  "paymentRequired",
  "forbidden",
  "rateLimited",
  "serverError",
  "stallHandshake",
];
const LISTENING: readonly DeepgramFault[] = [
  "dropMidCall",
  "closeMidCall",
  "refuseAudio",
  "garbageJson",
  "silent",
];

export const FAULT_ROWS: readonly FaultRow[] = (
  ["before the call", "in the call"] as const
).flatMap((stage) => [
  ...CHAT.map((fault) => ({ kind: "llm", fault, stage, faults: { openai: { fault } } }) as const),
  ...SPEECH.map(
    (fault) => ({ kind: "tts", fault, stage, faults: { elevenlabs: { fault } } }) as const,
  ),
  ...(stage === "before the call" ? [...HANDSHAKE, ...LISTENING] : LISTENING).map(
    (fault) => ({ kind: "stt", fault, stage, faults: { deepgram: { fault } } }) as const,
  ),
]);
