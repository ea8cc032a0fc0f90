import * as v from "valibot";

const delay = v.pipe(v.number(), v.minValue(0), v.maxValue(600_000));
const count = v.pipe(v.number(), v.integer(), v.minValue(0));

/**
 * `fault` affects the vendor's behaviour from now on; `after` lets that many requests pass first, and `times` ends the
 * fault after that many. A Deepgram fault counts connections if it concerns the handshake, otherwise what it affects.
 */
const faultCount = {
  after: v.exactOptional(count),
  times: v.exactOptional(v.pipe(count, v.minValue(1))),
};

export const DEEPGRAM_FAULTS = [
  "unauthorized",
  "paymentRequired",
  "forbidden",
  "rateLimited",
  "serverError",
  "stallHandshake",
  "silent",
  "slow",
  // The next utterance counts as noise: none of its words is returned, and an empty result at its end.
  "dropUtterance",
  "neverSpeechFinal",
  "utteranceEndOnly",
  "doubleSpeechFinal",
  "emptyFinals",
  "falseSpeechStarted",
  "staleUtteranceEnd",
  "missingFlags",
  "unknownMessages",
  "garbageJson",
  "dropMidCall",
  "closeMidCall",
  "refuseAudio",
  "noAnswerToFinalize",
  "noAnswerToClose",
] as const;

/** AssemblyAI reports a temporary limit in an open connection, with a text that begins like those about a key. */
export const ASSEMBLYAI_FAULTS = [...DEEPGRAM_FAULTS, "tooManySessions", "tooFast"] as const;

export const CHAT_FAULTS = [
  "unauthorized",
  // A vendor that moderates content refuses one request with it, and does not mean the key.
  "forbidden",
  "badRequest",
  "notFound",
  "rateLimited",
  "quotaExceeded",
  "serverError",
  "overloaded",
  "stallBeforeFirstByte",
  "stallMidStream",
  "disconnectBeforeFirstByte",
  "disconnectMidStream",
  "slow",
  "garbageJson",
  "emptyReply",
  "longReply",
  "errorMidStream",
  "endWithoutDone",
  "fragmented",
  // Calls the first offered tool again and again.
  "toolLoop",
  // Not for Ollama, whose arguments are objects.
  "brokenArguments",
  // Not for Ollama, which is asked not to reason.
  "thinksAloud",
] as const;

export const EMBEDDING_FAULTS = [
  "unauthorized",
  "badRequest",
  "notFound",
  "rateLimited",
  "quotaExceeded",
  "serverError",
  "overloaded",
  "stallBeforeFirstByte",
  "disconnectBeforeFirstByte",
  "garbageJson",
  // The last vector is missing, or each has one number less than it should.
  "missingVector",
  "shortVectors",
] as const;

export const SPEECH_FAULTS = [
  "unauthorized",
  "badRequest",
  "rateLimited",
  "quotaExceeded",
  "serverError",
  "stallBeforeFirstByte",
  "stallMidStream",
  "disconnectBeforeFirstByte",
  "disconnectMidStream",
  "slow",
  "garbage",
  "emptyAudio",
  // As long as the sentence, without a sound; or only its first half.
  "silentAudio",
  "halfAudio",
  // Only over sockets: all audio arrives, and its end is never reported, or reported with its first
  // piece and again at the end, or twice.
  "neverDone",
  "doneEarly",
  "doneTwice",
] as const;

export const EDGE_FAULTS = [
  "unauthorized",
  "clockSkew",
  "rateLimited",
  "serverError",
  "stallBeforeFirstByte",
  "stallMidStream",
  "disconnectBeforeFirstByte",
  "disconnectMidStream",
  "slow",
  "garbage",
  "turnEndWithoutAudio",
  "silentAudio",
  "halfAudio",
  // The audio is complete. The end message comes with the first piece and again at the end, or twice at the end.
  "turnEndEarly",
  "turnEndTwice",
  "closeWithoutTurnEnd",
  "neverTurnEnd",
] as const;

/** A request is refused. */
export const TWILIO_REFUSALS = [
  "unauthorized",
  "invalidNumber",
  "rateLimited",
  "serverError",
] as const;

/** The outcome of a call whose number does not determine another. */
export const TWILIO_OUTCOMES = ["busy", "noAnswer", "failed", "machine", "rings"] as const;

const DeepgramSettings = v.strictObject({
  ...faultCount,
  fault: v.exactOptional(v.picklist(DEEPGRAM_FAULTS)),
  /** The time from the audio that decides an event to the event. */
  latencyMs: v.exactOptional(delay),
  /** The audio between two interim results; the first comes with the first word. */
  interimIntervalMs: v.exactOptional(delay),
  /** The audio after which a segment is closed although the caller still speaks. */
  segmentMs: v.exactOptional(delay),
  /** A word that is misheard in every stream without it among its keyterms. */
  rareWord: v.exactOptional(v.string()),
  /** One in this many words is transcribed as another. */
  misheardEvery: v.exactOptional(v.pipe(v.number(), v.integer(), v.minValue(2), v.maxValue(1_000))),
  /** The time without any message after which the stream fails with NET-0001. */
  idleTimeoutMs: v.exactOptional(delay),
  /** The time with keep-alives and no audio after which the stream fails with NET-0000. */
  noAudioTimeoutMs: v.exactOptional(delay),
});

const AssemblyAiSettings = v.strictObject({
  ...DeepgramSettings.entries,
  fault: v.exactOptional(v.picklist(ASSEMBLYAI_FAULTS)),
});

const ChatSettings = v.strictObject({
  ...faultCount,
  fault: v.exactOptional(v.picklist(CHAT_FAULTS)),
  firstTokenMs: v.exactOptional(delay),
  tokenIntervalMs: v.exactOptional(delay),
  /** A setting of openai: a model that the sandbox does not know refuses what OpenAI's newest refuse. */
  strictModels: v.exactOptional(v.boolean()),
});

const EmbeddingSettings = v.strictObject({
  ...faultCount,
  fault: v.exactOptional(v.picklist(EMBEDDING_FAULTS)),
  firstByteMs: v.exactOptional(delay),
});

const speechDelays = {
  firstByteMs: v.exactOptional(delay),
  /** How many times faster than real time the audio arrives: 4 by default. Zero sends all of it at once. */
  realTimeFactor: v.exactOptional(v.pipe(v.number(), v.minValue(0), v.maxValue(1_000))),
  /** The audio of one chunk: 100 ms by default. */
  chunkMs: v.exactOptional(v.pipe(v.number(), v.minValue(1), v.maxValue(60_000))),
  /** Each chunk arrives up to this much later than it would, unevenly. */
  jitterMs: v.exactOptional(delay),
};

const SpeechSettings = v.strictObject({
  ...faultCount,
  ...speechDelays,
  fault: v.exactOptional(v.picklist(SPEECH_FAULTS)),
});

const EdgeSettings = v.strictObject({
  ...faultCount,
  ...speechDelays,
  fault: v.exactOptional(v.picklist(EDGE_FAULTS)),
  /** How far the vendor's clock is ahead of this machine's, for its tokens and its `Date` header. */
  skewMs: v.exactOptional(v.pipe(v.number(), v.minValue(-86_400_000), v.maxValue(86_400_000))),
});

const TwilioSettings = v.strictObject({
  ...faultCount,
  fault: v.exactOptional(v.picklist([...TWILIO_REFUSALS, ...TWILIO_OUTCOMES])),
  /** The time until the call is answered, or reported as not answered. */
  ringMs: v.exactOptional(delay),
  /** How long two people talk after a transfer. */
  talkMs: v.exactOptional(delay),
});

/** The body of PUT /sandbox/faults: a named vendor gets exactly these settings, the others keep theirs. */
export const FaultsPatch = v.strictObject({
  deepgram: v.exactOptional(DeepgramSettings),
  openai: v.exactOptional(ChatSettings),
  groq: v.exactOptional(ChatSettings),
  ollama: v.exactOptional(ChatSettings),
  elevenlabs: v.exactOptional(SpeechSettings),
  openaiSpeech: v.exactOptional(SpeechSettings),
  openaiEmbeddings: v.exactOptional(EmbeddingSettings),
  cartesia: v.exactOptional(SpeechSettings),
  deepgramSpeech: v.exactOptional(SpeechSettings),
  assemblyai: v.exactOptional(AssemblyAiSettings),
  edge: v.exactOptional(EdgeSettings),
  twilio: v.exactOptional(TwilioSettings),
});

export type DeepgramSettings = Readonly<v.InferOutput<typeof DeepgramSettings>>;
export type AssemblyAiSettings = Readonly<v.InferOutput<typeof AssemblyAiSettings>>;
export type ChatSettings = Readonly<v.InferOutput<typeof ChatSettings>>;
export type EmbeddingSettings = Readonly<v.InferOutput<typeof EmbeddingSettings>>;
export type SpeechSettings = Readonly<v.InferOutput<typeof SpeechSettings>>;
export type EdgeSettings = Readonly<v.InferOutput<typeof EdgeSettings>>;
type TwilioSettings = Readonly<v.InferOutput<typeof TwilioSettings>>;

export type DeepgramFault = (typeof DEEPGRAM_FAULTS)[number];
export type AssemblyAiFault = (typeof ASSEMBLYAI_FAULTS)[number];
export type ChatFault = (typeof CHAT_FAULTS)[number];
export type EmbeddingFault = (typeof EMBEDDING_FAULTS)[number];
export type SpeechFault = (typeof SPEECH_FAULTS)[number];
export type EdgeFault = (typeof EDGE_FAULTS)[number];
export type TwilioRefusal = (typeof TWILIO_REFUSALS)[number];
export type TwilioOutcome = (typeof TWILIO_OUTCOMES)[number];

/**
 * Assigning to a vendor takes effect immediately, also for requests in progress. An empty object is a healthy
 * vendor without delays.
 */
export interface SandboxFaults {
  deepgram: DeepgramSettings;
  openai: ChatSettings;
  groq: ChatSettings;
  ollama: ChatSettings;
  elevenlabs: SpeechSettings;
  openaiSpeech: SpeechSettings;
  openaiEmbeddings: EmbeddingSettings;
  cartesia: SpeechSettings;
  deepgramSpeech: SpeechSettings;
  assemblyai: AssemblyAiSettings;
  edge: EdgeSettings;
  twilio: TwilioSettings;
}

export type SandboxVendor = keyof SandboxFaults;
export type ChatVendor = "openai" | "groq" | "ollama";

export function noFaults(): SandboxFaults {
  return {
    deepgram: {},
    openai: {},
    groq: {},
    ollama: {},
    elevenlabs: {},
    openaiSpeech: {},
    openaiEmbeddings: {},
    cartesia: {},
    deepgramSpeech: {},
    assemblyai: {},
    edge: {},
    twilio: {},
  };
}

/** Typical delays of the internet, for manual tests of the product. */
export function lifelikeDelays(): SandboxFaults {
  const chat = { firstTokenMs: 250, tokenIntervalMs: 12 };
  const speech = { firstByteMs: 150 };
  return {
    deepgram: { latencyMs: 80 },
    openai: chat,
    groq: { firstTokenMs: 120, tokenIntervalMs: 4 },
    ollama: chat,
    elevenlabs: { ...speech, firstByteMs: 100 },
    openaiSpeech: speech,
    openaiEmbeddings: { firstByteMs: 120 },
    cartesia: { ...speech, firstByteMs: 90 },
    deepgramSpeech: speech,
    assemblyai: { latencyMs: 80 },
    edge: speech,
    twilio: { ringMs: 1_500, talkMs: 5_000 },
  };
}

type FaultOf<Vendor extends SandboxVendor> = NonNullable<SandboxFaults[Vendor]["fault"]>;

/**
 * The fault of this request, counted; undefined if it succeeds. `among` names the faults that can apply at this
 * point: others are neither counted nor returned.
 */
export function takeFault<Vendor extends SandboxVendor>(
  faults: SandboxFaults,
  vendor: Vendor,
  among?: readonly FaultOf<Vendor>[],
): FaultOf<Vendor> | undefined {
  const settings: SandboxFaults[Vendor] = faults[vendor];
  const fault = settings.fault as FaultOf<Vendor> | undefined;
  if (fault === undefined || (among !== undefined && !among.includes(fault))) return undefined;
  if (settings.after !== undefined && settings.after > 0) {
    faults[vendor] = { ...settings, after: settings.after - 1 };
    return undefined;
  }
  if (settings.times === undefined) return fault;
  const { fault: _fault, times, after: _after, ...delays } = settings;
  faults[vendor] = times > 1 ? { ...settings, times: times - 1 } : delays;
  return fault;
}
