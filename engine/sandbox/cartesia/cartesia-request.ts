import * as v from "valibot";
import type { VoiceFormat } from "../sound/simulated-voice.js";

const RawFormat = v.strictObject({
  container: v.literal("raw"),
  encoding: v.picklist(["pcm_s16le", "pcm_mulaw"]),
  sample_rate: v.picklist([8000, 16_000, 22_050, 24_000, 44_100]),
});
const Mp3Format = v.strictObject({
  container: v.literal("mp3"),
  sample_rate: v.picklist([22_050, 24_000, 44_100]),
  bit_rate: v.picklist([32_000, 48_000, 64_000, 96_000, 128_000, 192_000]),
});

/** A generation; the WebSocket has no containers, and HTTP no contexts. The sandbox has no floating-point audio. */
export const Generation = v.looseObject({
  model_id: v.pipe(v.string(), v.minLength(1)),
  transcript: v.string(),
  voice: v.looseObject({ mode: v.literal("id"), id: v.pipe(v.string(), v.minLength(1)) }),
  language: v.optional(v.nullable(v.string())),
  output_format: v.variant("container", [RawFormat, Mp3Format]),
  generation_config: v.optional(
    v.looseObject({
      speed: v.optional(v.pipe(v.number(), v.minValue(0.6), v.maxValue(1.5)), 1),
      volume: v.optional(v.pipe(v.number(), v.minValue(0.5), v.maxValue(2))),
    }),
    {},
  ),
});
export type Generation = v.InferOutput<typeof Generation>;

export const SocketGeneration = v.object({
  ...Generation.entries,
  output_format: RawFormat,
  context_id: v.pipe(v.string(), v.minLength(1)),
  continue: v.optional(v.nullable(v.boolean()), false),
  flush: v.optional(v.nullable(v.boolean()), false),
  add_timestamps: v.optional(v.nullable(v.boolean()), false),
  max_buffer_delay_ms: v.optional(v.nullable(v.number())),
});
export type SocketGeneration = v.InferOutput<typeof SocketGeneration>;

export const Cancellation = v.object({ context_id: v.string(), cancel: v.literal(true) });

export function voiceFormatOf({
  output_format: format,
  generation_config,
}: Pick<Generation, "output_format" | "generation_config">): VoiceFormat {
  const voice = { sampleRateHz: format.sample_rate, speed: generation_config.speed ?? 1 };
  if (format.container === "raw") {
    return { ...voice, codec: format.encoding === "pcm_mulaw" ? "mulaw" : "pcm" };
  }
  const kbps = ([32, 48, 64, 96, 128, 192] as const).find(
    (each) => each * 1000 === format.bit_rate,
  );
  return { ...voice, codec: "mp3", kbps: kbps ?? 48 };
}
