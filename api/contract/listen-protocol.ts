import * as v from "valibot";

/** The WebSocket of those who listen in. */
export const LISTEN_PATH = "/ws/listen";

/** The first message; binary ones follow, each whole samples: one of the caller (left) and one of the agent (right) in turn. */
export const ListenFormat = v.object({
  type: v.literal("format"),
  encoding: v.literal("mulaw"),
  sampleRateHz: v.number(),
  channels: v.literal(2),
});
