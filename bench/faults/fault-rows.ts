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
  /** It strikes before the call begins, or in it after a turn that went well, or then in the midst of what the caller says. */
  readonly stage: "before the call" | "in the call" | "in an utterance";
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
  // "garbage" has no row: raw samples are any bytes at all, and the caller of these calls has asked for such.
  "emptyAudio",
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
const HEARING: readonly DeepgramFault[] = [
  "dropMidCall",
  "closeMidCall",
  "refuseAudio",
  "garbageJson",
];
const LISTENING: readonly DeepgramFault[] = [...HEARING, "silent"];
/** One that falls silent in the midst of an utterance is found out too late for it (decision 019): it has no row yet. */
const LISTENING_AT: Readonly<Record<FaultRow["stage"], readonly DeepgramFault[]>> = {
  "before the call": [...HANDSHAKE, ...LISTENING],
  "in the call": LISTENING,
  "in an utterance": HEARING,
};

/** A recognizer alone is at work while the caller speaks. */
const STAGES: readonly FaultRow["stage"][] = ["before the call", "in the call", "in an utterance"];

export const FAULT_ROWS: readonly FaultRow[] = STAGES.flatMap((stage) => [
  ...(stage === "in an utterance" ? [] : askedRows(stage)),
  ...LISTENING_AT[stage].map(
    (fault) => ({ kind: "stt", fault, stage, faults: { deepgram: { fault } } }) as const,
  ),
]);

function askedRows(stage: FaultRow["stage"]): readonly FaultRow[] {
  return [
    ...CHAT.map((fault) => ({ kind: "llm", fault, stage, faults: { openai: { fault } } }) as const),
    ...SPEECH.map(
      (fault) => ({ kind: "tts", fault, stage, faults: { elevenlabs: { fault } } }) as const,
    ),
  ];
}
