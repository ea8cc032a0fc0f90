export const MICROPHONE_PROCESSOR = "parley-microphone";
export const LOUDSPEAKER_PROCESSOR = "parley-loudspeaker";

/** Messages to the loudspeaker's worklet. */
export type LoudspeakerCommand =
  | { readonly type: "begin"; readonly turn: number; readonly rateHz: number }
  | { readonly type: "play"; readonly samples: Int16Array<ArrayBuffer> }
  | { readonly type: "finish" }
  | { readonly type: "stop" };

/** Messages from the loudspeaker's worklet. */
export type LoudspeakerReport =
  | { readonly type: "sounding"; readonly turn: number }
  | { readonly type: "played"; readonly turn: number; readonly ms: number }
  | { readonly type: "loudness"; readonly rms: number };
