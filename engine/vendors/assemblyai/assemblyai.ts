import * as v from "valibot";
import type { VendorFault } from "../contracts.js";
import { languagesToDetect, offeredModels } from "../model-catalog.js";
import { numberFrom, WEB_SOCKET_PROTOCOLS, wholeNumber } from "../setting-fields.js";
import { languageField, spokenLanguage } from "../spoken-language.js";
import type { MessageReader, RecognizerDialect, SttMessage } from "../stt-stream/stt-dialect.js";
import { SocketRecognizer } from "../stt-stream/stt-stream.js";
import { BASE_URL, setting, type Vendor } from "../vendor.js";
import { keyFaultOfStatus } from "../vendor-fault.js";
import { tryParse } from "../vendor-json.js";
import { endpointOf, parseSettings, requireApiKey } from "../vendor-settings.js";

const wireSchema = v.looseObject({ type: v.string() });

/** Times are milliseconds of the session's audio. */
const turnSchema = v.object({
  turn_order: v.number(),
  end_of_turn: v.boolean(),
  transcript: v.string(),
  // A session with language detection has both, about the turn so far.
  language_code: v.fallback(v.nullish(v.string()), undefined),
  language_confidence: v.fallback(v.nullish(v.number()), undefined),
  words: v.optional(
    v.array(v.object({ text: v.string(), start: v.number(), end: v.number() })),
    [],
  ),
});

const errorSchema = v.object({
  error_code: v.optional(v.number()),
  error: v.optional(v.string()),
});

/** Keeps the open turn of one socket, so that no word of it is lost when the socket breaks. */
export class AssemblyAiReader implements MessageReader {
  readonly #faultOf: (code: number, reason: string) => VendorFault;
  #openOrder: number | undefined;
  #endedOrder = -1;
  #text = "";
  #startSec = 0;
  #endSec = 0;
  #hasReportedSpeech = false;

  constructor(faultOf: (code: number, reason: string) => VendorFault) {
    this.#faultOf = faultOf;
  }

  read(text: string): readonly SttMessage[] | undefined {
    const message = tryParse(wireSchema, text)?.value;
    switch (message?.type) {
      case undefined:
        return undefined;
      case "Turn":
        return this.#readTurn(message);
      case "SpeechStarted":
        this.#hasReportedSpeech = true;
        return [{ kind: "speechStarted" }];
      case "Error": {
        const parsed = v.safeParse(errorSchema, message);
        const { error_code = 3005, error = "no reason given" } = parsed.success
          ? parsed.output
          : {};
        const detail = { code: String(error_code), message: error };
        return [{ kind: "error", fault: this.#faultOf(error_code, error), detail }];
      }
      default:
        return [];
    }
  }

  lost(heldFromSec: number): readonly SttMessage[] {
    const text = this.#text;
    // A turn that is replayed in full is transcribed again in full.
    if (text === "" || this.#startSec >= heldFromSec) return [];
    this.#text = "";
    const lastWordEndSec = this.#endSec;
    return [
      { kind: "settled", sec: lastWordEndSec },
      { kind: "words", text, isFinal: true, speechFinal: false, lastWordEndSec },
    ];
  }

  #readTurn(message: unknown): readonly SttMessage[] | undefined {
    const parsed = v.safeParse(turnSchema, message);
    if (!parsed.success) return undefined;
    const { turn_order, end_of_turn, transcript, words, language_code, language_confidence } =
      parsed.output;
    // The end may be reported a second time, with the text formatted.
    if (turn_order <= this.#endedOrder) return [];
    // The transcript of an open turn lacks its interim words.
    const joinedWords = words.map((word) => word.text).join(" ");
    const text = (end_of_turn || joinedWords === "" ? transcript : joinedWords).trim();
    if (text === "") return [{ kind: "wordless" }];
    const messages: SttMessage[] = [];
    if (this.#openOrder !== turn_order) {
      this.#openOrder = turn_order;
      if (!this.#hasReportedSpeech) messages.push({ kind: "speechStarted" });
      messages.push({ kind: "turn", mark: "startOfTurn", text });
    }
    this.#text = text;
    this.#startSec = (words[0]?.start ?? 0) / 1_000;
    this.#endSec = (words.at(-1)?.end ?? 0) / 1_000;
    const lastWordEndSec = words.length === 0 ? undefined : this.#endSec;
    const told = languageField(spokenLanguage(language_code, language_confidence));
    const said = { kind: "words", text, speechFinal: false, lastWordEndSec, ...told } as const;
    if (!end_of_turn) return [...messages, { ...said, isFinal: false }];
    this.#endedOrder = turn_order;
    this.#text = "";
    this.#hasReportedSpeech = false;
    return [
      ...messages,
      { kind: "settled", sec: this.#endSec },
      { ...said, isFinal: true },
      { kind: "turn", mark: "endOfTurn", text },
    ];
  }
}

const VENDOR = "assemblyai";
const PUBLIC_URL = "wss://streaming.assemblyai.com";

const FIELDS = {
  /** The silence after which the vendor checks for an end of turn, and the one that always ends it. */
  minTurnSilenceMs: v.optional(wholeNumber(0, 10_000)),
  maxTurnSilenceMs: v.optional(wholeNumber(0, 60_000)),
  /** The confidence that ends a turn; not for the newest models. */
  endOfTurnConfidence: v.optional(numberFrom(0, 1)),
};

/** The vendor's close codes and error codes, as its SDK names them; which of them are still in use is not confirmed. */
const FAULTS: ReadonlyMap<number, VendorFault> = new Map([
  [1008, "unauthorized"],
  [4001, "unauthorized"],
  [4002, "quotaExceeded"],
  [4003, "quotaExceeded"],
  [3006, "refused"],
  [3007, "refused"],
  [3009, "rateLimited"],
  [4029, "rateLimited"],
  [3005, "unavailable"],
]);

/** Temporary limits use codes that otherwise concern the key or the request; the codes have changed before. */
const PASSING: readonly (readonly [reason: RegExp, fault: VendorFault])[] = [
  [/too many|concurrent/i, "rateLimited"],
  [/transmission rate/i, "disconnected"],
];

export const ASSEMBLYAI: Vendor = {
  key: VENDOR,
  apiKey: { isRequired: true, variable: "ASSEMBLYAI_API_KEY" },
  address: { variable: "ASSEMBLYAI_URL", publicUrl: PUBLIC_URL, protocols: WEB_SOCKET_PROTOCOLS },
  stt: {
    displayName: "AssemblyAI",
    models: offeredModels("assemblyai", "stt"),
    fields: FIELDS,
    settings: [
      setting("minTurnSilenceMs", "Silence after which a turn may end, ms", "number"),
      setting("maxTurnSilenceMs", "Silence that ends a turn in any case, ms", "number"),
      BASE_URL,
    ],
    client: (given, context) => {
      const apiKey = requireApiKey(VENDOR, given);
      return new SocketRecognizer(assemblyAiDialect(parseSettings(VENDOR, FIELDS, given)), {
        context,
        endpoint: endpointOf(VENDOR, given, PUBLIC_URL, WEB_SOCKET_PROTOCOLS),
        clientOwned: given.clientOwned,
        orgId: given.orgId,
        apiKey,
        headers: { Authorization: apiKey },
      });
    },
  },
};

const refusalSchema = v.object({ error: v.optional(v.string()) });

/** A stream with more terms, or longer ones, is refused. */
const KEYTERMS_MAX = 100;
const KEYTERM_CHARACTERS_MAX = 50;

/** AssemblyAI streaming, protocol version 3. */
export function assemblyAiDialect(
  settings: v.InferOutput<v.ObjectSchema<typeof FIELDS, undefined>>,
): RecognizerDialect {
  return {
    vendor: VENDOR,
    hasTurnDetection: true,
    turnSilenceMaxMs: settings.maxTurnSilenceMs,
    feed: {
      openingSilenceMs: 0,
      // The vendor refuses messages shorter than 50 ms or longer than a second.
      soundPieceMs: 60,
      // A turn ends only while audio arrives.
      keepAliveMs: 500,
      keepAlive: undefined,
      endMark: JSON.stringify({ type: "Terminate" }),
    },
    target: (options) => {
      const { modelId, format, keyterms = [] } = options;
      const query = new URLSearchParams({
        sample_rate: String(format.sampleRateHz),
        encoding: format.encoding === "mulaw" ? "pcm_mulaw" : "pcm_s16le",
        speech_model: modelId,
      });
      for (const [name, value] of [
        ["min_turn_silence", settings.minTurnSilenceMs],
        ["max_turn_silence", settings.maxTurnSilenceMs],
        ["end_of_turn_confidence_threshold", settings.endOfTurnConfidence],
      ] as const) {
        if (value !== undefined) query.set(name, String(value));
      }
      const isMultilingual = languagesToDetect(VENDOR, options).length > 1;
      if (isMultilingual) query.set("language_detection", "true");
      const terms = keyterms
        .filter(({ length }) => length <= KEYTERM_CHARACTERS_MAX)
        .slice(0, KEYTERMS_MAX);
      if (terms.length > 0) query.set("keyterms_prompt", JSON.stringify(terms));
      return `/v3/ws?${query.toString()}`;
    },
    newReader: () => new AssemblyAiReader(faultOf),
    closeFault: faultOf,
    // It is not confirmed whether the vendor refuses a wrong key here or by a close code after the
    // upgrade; both are handled.
    refusalFault: (_code, status) => keyFaultOfStatus(status),
    refusalDetail: ({ body }) => ({
      code: undefined,
      message: tryParse(refusalSchema, body)?.value.error,
    }),
  };
}

function faultOf(code: number, reason: string): VendorFault {
  const passing = PASSING.find(([words]) => words.test(reason));
  return passing?.[1] ?? FAULTS.get(code) ?? "disconnected";
}
