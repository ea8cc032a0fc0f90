import * as v from "valibot";
import type { VendorFault } from "../contracts.js";
import { offeredModels } from "../model-catalog.js";
import type { RecognizerDialect } from "../recognizer-stream/recognizer-dialect.js";
import { SocketRecognizer } from "../recognizer-stream/socket-recognizer.js";
import { numberFrom, WEB_SOCKET_PROTOCOLS, wholeNumber } from "../setting-fields.js";
import { BASE_URL, setting, type Vendor } from "../vendor.js";
import { keyFaultOfStatus } from "../vendor-fault.js";
import { tryParse } from "../vendor-json.js";
import { endpointOf, parseSettings, requireApiKey } from "../vendor-settings.js";
import { AssemblyAiReader } from "./assemblyai-reader.js";

const VENDOR = "assemblyai";
const PUBLIC_URL = "wss://streaming.assemblyai.com";

const FIELDS = {
  /** The silence after which an end of turn is looked for, and the one that is an end in any case. */
  minTurnSilenceMs: v.optional(wholeNumber(0, 10_000)),
  maxTurnSilenceMs: v.optional(wholeNumber(0, 60_000)),
  /** How sure the vendor must be that a turn is over; not of the newest models. */
  endOfTurnConfidence: v.optional(numberFrom(0, 1)),
};

/** The vendor's close codes and the codes of its errors, as its SDK names them; which of them are still used is not confirmed. */
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

/** Limits that pass are told by codes that otherwise mean the key or what was sent; which code it is has changed before. */
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

/** AssemblyAI's streaming, version 3 of its protocol. */
export function assemblyAiDialect(
  settings: v.InferOutput<v.ObjectSchema<typeof FIELDS, undefined>>,
): RecognizerDialect {
  return {
    vendor: VENDOR,
    decidesTurns: true,
    turnSilenceMaxMs: settings.maxTurnSilenceMs,
    feed: {
      openingSilenceMs: 0,
      // Messages shorter than 50 ms are refused, and so are those longer than a second.
      soundPieceMs: 60,
      // A turn ends only while audio comes.
      keepAliveMs: 500,
      keepAlive: undefined,
      endMark: JSON.stringify({ type: "Terminate" }),
    },
    target: ({ modelId, format }) => {
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
      return `/v3/ws?${query.toString()}`;
    },
    newReader: () => new AssemblyAiReader(faultOf),
    closeFault: faultOf,
    // Whether a wrong key is refused here or by a close code behind the upgrade is not confirmed; both are understood.
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
