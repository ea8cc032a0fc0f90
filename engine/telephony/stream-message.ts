import * as v from "valibot";
import type { OfferedFormat } from "./phone-format.js";
import type { StreamIds, StreamStarted } from "./phone-wire.js";

/** A vendor's message in words that all vendors share. */
export type StreamMessage =
  | { readonly kind: "start"; readonly started: StreamStarted }
  /** The audio is in a format that nothing here can work with. */
  | { readonly kind: "unsupported"; readonly ids: StreamIds; readonly format: string }
  | {
      readonly kind: "media";
      readonly payload: string;
      readonly sequence: number | undefined;
      readonly isInbound: boolean;
    }
  | { readonly kind: "digit"; readonly digit: string }
  /** `heard` where the vendor itself says whether the mark was played or dropped. */
  | { readonly kind: "mark"; readonly name: string; readonly wasPlayed?: boolean }
  | { readonly kind: "cleared" }
  | { readonly kind: "flow"; readonly isOpen: boolean }
  | { readonly kind: "stop" }
  | { readonly kind: "vendorError" }
  /** Understood, and nothing follows from it. */
  | { readonly kind: "nothing" };

export function startMessage(ids: StreamIds, { format, words }: OfferedFormat): StreamMessage {
  if (format === undefined) return { kind: "unsupported", ids, format: words };
  return { kind: "start", started: { type: "started", ...ids, ...format } };
}

/** Undefined for what is not JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // The caller tells it as an unreadable message.
    return undefined;
  }
}

const Scalar = v.union([v.string(), v.number(), v.boolean()]);

/** Vendors write the same numbers as texts and as numbers. */
export const WireNumber = v.pipe(
  v.union([v.number(), v.pipe(v.string(), v.regex(/^\d{1,15}$/), v.transform(Number))]),
  v.safeInteger(),
  v.minValue(0),
);

/** Numbers and truth values become texts; what is nested is left out. */
export const Parameters = v.pipe(v.record(v.string(), v.unknown()), v.transform(parametersOf));

export function parametersOf(values: Readonly<Record<string, unknown>>): Record<string, string> {
  const parameters: Record<string, string> = {};
  for (const [name, value] of Object.entries(values)) {
    if (v.is(Scalar, value)) parameters[name] = String(value);
  }
  return parameters;
}

/** What the four vendors that send audio in JSON have in common in it. */
export const MediaMessage = v.pipe(
  v.object({
    event: v.literal("media"),
    media: v.object({
      payload: v.string(),
      track: v.optional(v.string(), "inbound"),
      chunk: v.fallback(v.optional(WireNumber), undefined),
    }),
  }),
  v.transform(
    ({ media }): StreamMessage => ({
      kind: "media",
      payload: media.payload,
      sequence: media.chunk,
      isInbound: media.track.startsWith("inbound"),
    }),
  ),
);

const Digit = v.pipe(
  v.union([v.string(), v.number()]),
  v.transform((digit): StreamMessage => ({ kind: "digit", digit: String(digit) })),
);

export const DigitMessage = v.pipe(
  v.object({ event: v.literal("dtmf"), dtmf: v.object({ digit: Digit }) }),
  v.transform(({ dtmf }) => dtmf.digit),
);

export const MarkMessage = v.pipe(
  v.object({ event: v.literal("mark"), mark: v.object({ name: v.string() }) }),
  v.transform(({ mark }): StreamMessage => ({ kind: "mark", name: mark.name })),
);

export const StopMessage = v.pipe(
  v.object({ event: v.literal("stop") }),
  v.transform((): StreamMessage => ({ kind: "stop" })),
);

export const ConnectedMessage = v.pipe(
  v.object({ event: v.literal("connected") }),
  v.transform((): StreamMessage => ({ kind: "nothing" })),
);
