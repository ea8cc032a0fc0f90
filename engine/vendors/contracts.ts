import { ParleyError } from "../../storage/parley-error.js";
import type { JsonObject } from "../../storage/records.js";
import type { InputFormat, Mp3Format, RawFormat } from "../audio/audio-format.js";

/**
 * Every client keeps these promises: its signal aborts it immediately and for good, and it makes no callback after
 * that. It fails only with a VendorError, and uses no more memory than its named limits.
 */

/** `retryable` faults may pass by themselves; the others need the operator. */
export const VENDOR_FAULTS = [
  "unauthorized",
  "refused",
  "quotaExceeded",
  "notFound",
  "rateLimited",
  "unavailable",
  "timeout",
  "disconnected",
  "badAnswer",
  "aborted",
] as const;
export type VendorFault = (typeof VENDOR_FAULTS)[number];

const RETRYABLE: ReadonlySet<VendorFault> = new Set([
  "rateLimited",
  "unavailable",
  "timeout",
  "disconnected",
  "badAnswer",
]);

export interface VendorErrorOptions extends ErrorOptions {
  readonly status?: number;
  readonly retryAfterMs?: number | undefined;
  /** The vendor's own id of the request, for its support. */
  readonly requestId?: string | undefined;
  /** The vendor's text, which may repeat what was sent to it. */
  readonly vendorText?: string | undefined;
}

/**
 * The message is for the operator's log: not the vendor's text, which may repeat the prompt, the caller's words or
 * a telephone number, but the result of `reasonOf`.
 */
export class VendorError extends ParleyError {
  override readonly name = "VendorError";
  readonly code = "vendor_failed";
  readonly vendor: string;
  readonly fault: VendorFault;
  readonly status: number | undefined;
  readonly retryAfterMs: number | undefined;
  readonly requestId: string | undefined;
  /** A private field, since logs and `inspect` write the others. */
  readonly #vendorText: string | undefined;

  constructor(
    vendor: string,
    fault: VendorFault,
    message: string,
    options: VendorErrorOptions = {},
  ) {
    super(message, options.cause === undefined ? {} : { cause: options.cause });
    this.vendor = vendor;
    this.fault = fault;
    this.status = options.status;
    this.retryAfterMs = options.retryAfterMs;
    this.requestId = options.requestId;
    this.#vendorText = options.vendorText;
  }

  /**
   * Only for the owner of the vendor's account, and only for a request without a caller's words: a provider's
   * test. Never logged.
   */
  get vendorText(): string | undefined {
    return this.#vendorText;
  }

  get retryable(): boolean {
    return RETRYABLE.has(this.fault);
  }
}

/** A tool that the LLM may call. `parameters` is a JSON schema of an object. */
export interface ToolDefinition {
  readonly name: string;
  readonly description: string;
  readonly parameters: JsonObject;
}

/** A call of the LLM; the arguments are its output, and may not be JSON. */
export interface ToolCall {
  readonly id: string;
  readonly name: string;
  readonly argumentsJson: string;
  /** Data that the vendor sent with the call, and may require back. */
  readonly opaque?: OpaqueToolData;
}

/** Fields that only their vendor reads, such as the signature of the reasoning that led to a call. */
export interface OpaqueToolData {
  /** The address and the model that they came from: others refuse them, and do not get them. */
  readonly origin: string;
  readonly ofCall: JsonObject;
  readonly ofFunction: JsonObject;
  /** The fields of the message that contains the call; only its first call has them. */
  readonly ofMessage: JsonObject;
}

export type ChatMessage =
  | { readonly role: "system" | "user"; readonly content: string }
  | {
      readonly role: "assistant";
      readonly content: string;
      readonly toolCalls?: readonly ToolCall[];
    }
  /** The result of one call of the assistant message before it. */
  | { readonly role: "tool"; readonly toolCallId: string; readonly content: string };

export interface CompletionRequest {
  readonly modelId: string;
  readonly messages: readonly ChatMessage[];
  /** null: the vendor's default. */
  readonly temperature: number | null;
  readonly maxTokens: number;
  readonly tools?: readonly ToolDefinition[];
  /** The reply has to be text. The tools stay in the request: vendors refuse earlier tool calls without them. */
  readonly toolChoice?: "none";
  /** Called for each tool-call fragment. There may be no text until the call is complete. */
  readonly onToolUse?: () => void;
  /** No caller waits for the first token. */
  readonly isBackground?: true;
}

export interface Completion {
  readonly finishReason: "stop" | "length" | "other";
  /** Absent or empty: the reply has no tool calls. */
  readonly toolCalls?: readonly ToolCall[];
  readonly promptTokens: number;
  readonly completionTokens: number;
}

export interface LanguageModel {
  /** Calls `onToken` with every non-empty piece of text, in order; resolves when the vendor reports the end. */
  complete(
    request: CompletionRequest,
    onToken: (text: string) => void,
    signal: AbortSignal,
  ): Promise<Completion>;
  /** Opens a connection ahead of the first request; a failure is left to that request. */
  warm(): void;
}

/** A request uses one of the client's listed formats: MP3, and often MULAW_8K and PCM_24K. */
export type SpeechFormat = Mp3Format | RawFormat<"mulaw" | "pcm16">;

export interface SpeechRequest {
  readonly text: string;
  readonly modelId: string;
  /** 1 = the voice's default speed. */
  readonly speed: number;
  /** BCP-47, for example `en-US`. */
  readonly language: string;
  readonly format: SpeechFormat;
  /**
   * Called before the first audio if that is in another format than requested. True: the audio is accepted in this
   * format. False, or omitted: TTS has failed.
   */
  readonly onFormat?: (given: SpeechFormat) => boolean;
  /**
   * Compares the length of the audio with the text; if omitted, only audio that is too short for any voice is
   * refused.
   */
  readonly measure?: SpeechMeasure;
  /**
   * Called with word times as they arrive, never before their audio, by vendors that report them; otherwise never
   * called.
   */
  readonly onWords?: (words: readonly SpokenWord[]) => void;
}

/** How long a voice usually takes for a text. */
export interface SpeechMeasure {
  /** Shorter audio is not the whole text; undefined while too little is known about the voice. */
  readonly leastMs: number | undefined;
  /** Called with the length of the complete audio, before it is checked. */
  readonly measured: (soundMs: number) => void;
}

/** Times from the beginning of the sentence's audio. */
export interface SpokenWord {
  readonly text: string;
  readonly startMs: number;
  readonly endMs: number;
}

export interface TextToSpeech {
  readonly formats: readonly SpeechFormat[];
  /** Calls `onChunk` with audio bytes as they arrive (the callee may keep them); resolves after the last. */
  synthesize(
    request: SpeechRequest,
    onChunk: (audio: Uint8Array) => void,
    signal: AbortSignal,
  ): Promise<void>;
  warm(): void;
}

export interface ListenOptions {
  readonly language: string;
  /** Other languages that the caller may speak: an STT that can tell them apart reports which one it heard. */
  readonly otherLanguages?: readonly string[];
  readonly modelId: string;
  readonly format: InputFormat;
  readonly endpointingMs: number;
  /** For an STT with turn detection: whether it reports that a turn seems to be ending. */
  readonly eagerTurns?: boolean;
  /** Names and terms that are likely to be said; a recognizer that takes none, or less, leaves out the rest. */
  readonly keyterms?: readonly string[];
}

/** The language of a transcript, as STT has recognized it. */
export interface SpokenLanguage {
  /** The first part of a language tag, in lower case. */
  readonly code: string;
  /** From 0 to 1; omitted where the vendor reports none. */
  readonly confidence?: number;
}

export interface Transcript {
  readonly text: string;
  /** Only where other languages were asked for, and not with every result. */
  readonly language?: SpokenLanguage | undefined;
  /** These words are final. */
  readonly isFinal: boolean;
  /** The vendor heard `endpointingMs` of silence after them. Implies isFinal. */
  readonly speechFinal: boolean;
  /** Where the last word ends, in ms of audio since the stream was opened, reconnects included; undefined without words. */
  readonly lastWordEndMs: number | undefined;
  /** The STT reports the end of the caller's turn by `onTurn`: a pause after the words means nothing. */
  readonly hasTurnDetection?: true;
  /** After this much silence it ends a turn in any case; omitted if unknown. */
  readonly turnSilenceMaxMs?: number | undefined;
}

/**
 * A turn of the caller, as an STT with turn detection reports it: it starts, may seem to end (`eagerEndOfTurn`,
 * after which it is resumed or ends with the same words), and ends.
 */
export type TurnMark = "startOfTurn" | "eagerEndOfTurn" | "turnResumed" | "endOfTurn";

export interface TurnEvent {
  readonly mark: TurnMark;
  /** All words of the turn so far. */
  readonly text: string;
}

export interface SpeechListener {
  onSpeechStarted(): void;
  onTranscript(transcript: Transcript): void;
  onUtteranceEnd(lastWordEndMs: number): void;
  /** Only from STTs with turn detection. `onTranscript` reports the words of a turn before its end. */
  onTurn(turn: TurnEvent): void;
  /**
   * A voice gave no words. "doubtful" is reported once until there are words, long before the STT counts as dead;
   * "deaf" when even a slow STT would have answered. Late words are still reported.
   */
  onSttStall?(how: "doubtful" | "deaf"): void;
  /** The connection broke; the newest audio (at most twelve seconds) is kept and will be replayed. */
  onLost(error: VendorError): void;
  onRecovered(sttOutageMs: number): void;
  /** The connection will not be restored; no event follows. */
  onFailed(error: VendorError): void;
}

export interface SpeechStream {
  /** Copies what it keeps: the caller may reuse the bytes. Never throws. */
  write(audio: Uint8Array): void;
  /** Tells the vendor that the audio has ended, waits (bounded) for its last results, then closes. */
  finish(): Promise<void>;
  /** Closes immediately. */
  close(): void;
}

export interface SpeechToText {
  /** Resolves when the vendor accepts audio; rejects with a VendorError. */
  open(
    options: ListenOptions,
    listener: SpeechListener,
    signal: AbortSignal,
  ): Promise<SpeechStream>;
}

export interface EmbeddingRequest {
  readonly modelId: string;
  readonly texts: readonly string[];
  /** Null: the model's own number. */
  readonly dimensions: number | null;
  readonly timeoutMs: number;
}

/** A model whose vectors are close together for texts of similar meaning. */
export interface EmbeddingModel {
  /** Returns the vendor's answer as it is: parsing many vectors would block the event loop of calls. */
  request(request: EmbeddingRequest, signal: AbortSignal): Promise<Uint8Array>;
}
