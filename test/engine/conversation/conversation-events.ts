import * as fc from "fast-check";
import type { ConversationEvent } from "../../../engine/conversation/events.js";
import { stockPhrases } from "../../../engine/conversation/lexicon.js";

type Kind = ConversationEvent["type"];
export type UnstampedEvent = ConversationEvent extends infer Event
  ? Event extends ConversationEvent
    ? Omit<Event, "atMs">
    : never
  : never;
type EventOf<Type extends Kind> = Extract<UnstampedEvent, { readonly type: Type }>;

/** Every member is listed here, so that a forgotten one does not compile. */
type Generators = {
  readonly [Type in Kind]: {
    readonly weight: number;
    readonly arbitrary: fc.Arbitrary<Omit<EventOf<Type>, "type">>;
  };
};

/** The tools that the calls of the properties offer, and one that no agent has. */
export const TOOL_NAMES = ["weather", "hangup", "transfer", "unknown"] as const;

const words = fc.oneof(
  fc.stringMatching(/^[a-z.!?, ]{0,30}$/),
  // So that words meet those of the agent, agree with it, and part from it.
  fc.constantFrom("yeah", "uh-huh", "bye", "wait", "Hello! How can I help", "help you today"),
  // A machine that screens calls.
  fc.constantFrom("your name and the reason for your call", "stay on the line"),
);
const turnId = fc.integer({ min: 0, max: 6 });
const index = fc.oneof(fc.integer({ min: 0, max: 4 }), fc.constant(1_000));
const ms = fc.integer({ min: 0, max: 20_000 });
const timedWords = fc.array(fc.record({ text: words, endMs: ms }), { maxLength: 4 });
const audio = fc.record(
  {
    turnId,
    index,
    durationMs: fc.integer({ min: 1, max: 9_000 }),
    firstByteAtMs: ms,
    words: timedWords,
  },
  { requiredKeys: ["turnId", "index", "durationMs", "firstByteAtMs"] },
);
const callId = fc.constantFrom("a", "b");
const toolCall = fc.record({
  id: callId,
  name: fc.constantFrom(...TOOL_NAMES),
  argumentsJson: fc.constantFrom("{}", "{", '{"digits":"12"}'),
});
const ending = fc.constantFrom(
  { reason: "callerLeft", status: "completed", message: "bye" } as const,
  { reason: "suspended", status: "completed", message: "suspended" } as const,
  { reason: "organizationEnded", status: "completed", message: "ended" } as const,
);

const GENERATORS: Generators = {
  opened: {
    weight: 1,
    arbitrary: fc.record(
      { resumed: fc.boolean(), lost: fc.constantFrom("llm", "tts", "stt") },
      { requiredKeys: ["resumed"] },
    ),
  },
  speechStarted: {
    weight: 2,
    arbitrary: fc.record({ voiceAgoMs: fc.option(ms, { nil: undefined }) }),
  },
  transcript: {
    weight: 6,
    arbitrary: fc.record(
      {
        text: words,
        language: fc.record(
          { code: fc.constantFrom("en", "de", "fr"), confidence: fc.constantFrom(0.3, 0.9) },
          { requiredKeys: ["code"] },
        ),
        isFinal: fc.boolean(),
        speechFinal: fc.boolean(),
        lastWordEndMs: fc.option(ms, { nil: undefined }),
        endedAgoMs: ms,
        hasTurnDetection: fc.constant(true),
        turnSilenceMaxMs: ms,
        voiceAgoMs: ms,
      },
      { requiredKeys: ["text", "isFinal", "speechFinal", "lastWordEndMs", "endedAgoMs"] },
    ),
  },
  voiceHeard: { weight: 2, arbitrary: fc.record({ beganAgoMs: ms, voiceBeganAgoMs: ms }) },
  utteranceEnd: { weight: 1, arbitrary: fc.record({ lastWordEndMs: ms, endedAgoMs: ms }) },
  callerTurnEnded: { weight: 1, arbitrary: fc.constant({}) },
  callerTurnEnding: { weight: 2, arbitrary: fc.constant({}) },
  callerTurnResumed: { weight: 1, arbitrary: fc.constant({}) },
  preemptiveRefused: { weight: 1, arbitrary: fc.record({ turnId }) },
  digit: { weight: 1, arbitrary: fc.record({ digit: fc.constantFrom("0", "7", "*", "#", "A") }) },
  written: { weight: 1, arbitrary: fc.record({ text: words }) },
  sttFailed: { weight: 1, arbitrary: fc.constant({}) },
  deadlineReached: {
    weight: 4,
    arbitrary: fc.record(
      { voiceAgoMs: fc.option(ms, { nil: undefined }), ttsAudioAgoMs: ms },
      { requiredKeys: ["voiceAgoMs"] },
    ),
  },
  controlRequested: {
    weight: 3,
    arbitrary: fc.record({
      command: fc.oneof(
        fc.record({ type: fc.constant("say"), text: words, interrupt: fc.boolean() }),
        fc.record({ type: fc.constant("addContext"), text: words }),
        fc.record({ type: fc.constantFrom("mute", "unmute") }),
      ),
    }),
  },
  endRequested: { weight: 1, arbitrary: fc.record({ ending }) },
  answererDetected: {
    weight: 1,
    arbitrary: fc.record({
      verdict: fc.record({
        answerer: fc.constantFrom("human", "machine", "fax", "unknown"),
        isGreetingOver: fc.boolean(),
      }),
      voiceAgoMs: fc.option(ms, { nil: undefined }),
    }),
  },
  beepHeard: { weight: 1, arbitrary: fc.constant({}) },
  transferTaken: { weight: 1, arbitrary: fc.record({ turnId }) },
  transferRefused: { weight: 1, arbitrary: fc.record({ turnId }) },
  passagesAdded: { weight: 1, arbitrary: fc.record({ turnId, chars: ms }) },
  replyToken: { weight: 6, arbitrary: fc.record({ turnId, text: words }) },
  replyDone: {
    weight: 3,
    arbitrary: fc.record({
      turnId,
      tokens: ms,
      toolCalls: fc.option(fc.array(toolCall, { maxLength: 3 }), { nil: undefined }),
    }),
  },
  replyFailed: { weight: 1, arbitrary: fc.record({ turnId, retryable: fc.boolean() }) },
  toolDone: {
    weight: 2,
    arbitrary: fc.record({
      turnId,
      callId,
      content: words,
      spoken: fc.option(words, { nil: undefined }),
    }),
  },
  sentenceGrew: { weight: 4, arbitrary: audio },
  sentenceWhole: { weight: 6, arbitrary: audio },
  sentenceFailed: {
    weight: 2,
    arbitrary: fc.record({ turnId, index, retryable: fc.boolean() }),
  },
  played: { weight: 3, arbitrary: fc.record({ turnId, playedMs: ms }) },
  phraseReady: {
    weight: 2,
    arbitrary: fc.record({
      text: fc.constantFrom(...stockPhrases("en").waiting, "words that nobody prepared"),
      durationMs: fc.integer({ min: 1, max: 3_000 }),
      words: timedWords,
    }),
  },
  soundLate: { weight: 1, arbitrary: fc.record({ lateMs: ms }) },
  sentencePlayed: { weight: 3, arbitrary: fc.record({ turnId, index }) },
};

/** Anything in any order: also events that never happen, such as audio of a sentence that was not requested. */
export const anyEvent: fc.Arbitrary<UnstampedEvent> = fc.oneof(
  ...Object.entries(GENERATORS).map(([type, { weight, arbitrary }]) => ({
    weight,
    arbitrary: (arbitrary as fc.Arbitrary<object>).map(
      (fields) => ({ type, ...fields }) as UnstampedEvent,
    ),
  })),
);
