import * as v from "valibot";
import type { SpeechToText } from "../contracts.js";
import type { Heard, RecognizerDialect } from "../recognizer-stream/recognizer-dialect.js";
import { SocketRecognizer } from "../recognizer-stream/socket-recognizer.js";
import { wholeNumber } from "../setting-fields.js";
import { parseSettings, type VendorContext, type VendorSettings } from "../vendor-settings.js";
import { deepgramAccess, deepgramEncoding, deepgramRefusal, VENDOR } from "./deepgram-access.js";
import { parseNovaMessage } from "./nova-messages.js";

/** The vendor refuses less; more is longer than anybody waits. */
const UTTERANCE_END_MIN_MS = 1_000;
const UTTERANCE_END_MAX_MS = 5_000;
/** Shorter ones have been seen to fire in the middle of speech; the call has its own, shorter timer for silence. */
const UTTERANCE_END_MS = 1_500;

export const NOVA_FIELDS = {
  utteranceEndMs: v.optional(
    wholeNumber(UTTERANCE_END_MIN_MS, UTTERANCE_END_MAX_MS),
    UTTERANCE_END_MS,
  ),
};

/** "The audio cannot be decoded": a new connection would hear the same. */
const UNDECODABLE_AUDIO_CODE = 1008;
const SERVER_TROUBLE_CODE = 1011;

/** Deepgram's live transcription, version 1 of its protocol. */
export function deepgramNova(given: VendorSettings, context: VendorContext): SpeechToText {
  const { utteranceEndMs } = parseSettings(VENDOR, NOVA_FIELDS, given);
  return new SocketRecognizer(novaDialect(utteranceEndMs), deepgramAccess(given, context));
}

function novaDialect(utteranceEndMs: number): RecognizerDialect {
  return {
    vendor: VENDOR,
    decidesTurns: false,
    feed: {
      openingSilenceMs: 100,
      soundPieceMs: 0,
      // The vendor closes a stream after 10 s without a frame.
      keepAliveMs: 4_000,
      keepAlive: JSON.stringify({ type: "KeepAlive" }),
      endMark: JSON.stringify({ type: "CloseStream" }),
    },
    target: (options) => {
      const query = new URLSearchParams({
        model: options.modelId,
        language: options.language,
        encoding: deepgramEncoding(options.format),
        sample_rate: String(options.format.sampleRateHz),
        channels: "1",
        interim_results: "true",
        endpointing: String(options.endpointingMs),
        utterance_end_ms: String(utteranceEndMs),
        vad_events: "true",
      });
      return `/v1/listen?${query.toString()}`;
    },
    newReader: () => ({ read: readNova, lost: () => [] }),
    closeFault: deepgramCloseFault,
    refusalDetail: deepgramRefusal,
  };
}

export function deepgramCloseFault(code: number) {
  if (code === UNDECODABLE_AUDIO_CODE) return "refused";
  return code === SERVER_TROUBLE_CODE ? "unavailable" : "disconnected";
}

function readNova(text: string): readonly Heard[] | undefined {
  const message = parseNovaMessage(text);
  switch (message?.kind) {
    case undefined:
      return undefined;
    case "results": {
      const { isFinal, speechFinal, lastWordEndSec, settledSec } = message;
      const settled: Heard[] = isFinal ? [{ kind: "settled", sec: settledSec }] : [];
      // A silence that is still going on says nothing; the end of one may end a turn.
      if (message.text === "" && !isFinal) return settled;
      const words = { kind: "words", text: message.text, isFinal, speechFinal } as const;
      return [...settled, { ...words, lastWordEndSec }];
    }
    case "utteranceEnd":
      // Negative when there was no word.
      return message.lastWordEndSec >= 0 ? [message] : [];
    case "speechStarted":
      return [message];
    case "error":
      return [{ kind: "error", fault: "unavailable", message: message.message }];
    case "other":
      return [];
  }
}
