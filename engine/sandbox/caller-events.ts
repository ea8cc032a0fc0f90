import * as v from "valibot";

const ServerMessage = v.variant("type", [
  v.object({ type: v.literal("connected"), agentName: v.string(), historyKey: v.string() }),
  v.object({
    type: v.literal("transcript"),
    payload: v.object({
      role: v.picklist(["user", "assistant"]),
      text: v.string(),
      isFinal: v.boolean(),
    }),
  }),
  v.object({
    type: v.literal("audioStart"),
    turnId: v.pipe(v.number(), v.integer(), v.minValue(1)),
    encoding: v.picklist(["pcm24k", "pcm16k", "mulaw"]),
    sampleRateHz: v.picklist([24_000, 16_000, 8_000]),
  }),
  v.object({ type: v.literal("audioStop") }),
  v.object({ type: v.literal("audioEnd") }),
  v.object({ type: v.literal("error"), payload: v.object({ message: v.string() }) }),
]);

/**
 * All events of a caller: the service's messages, sound (on the web a whole MP3, or a piece of a stream), an
 * invalid text, the end.
 */
export type CallerEvent =
  | v.InferOutput<typeof ServerMessage>
  | { readonly type: "audio"; readonly sound: Uint8Array }
  | { readonly type: "unreadable"; readonly text: string }
  | { readonly type: "closed"; readonly code: number; readonly reason: string };

/** With the time of arrival on the machine's monotonic clock. */
export type Received<Event extends CallerEvent = CallerEvent> = Event & { readonly atNs: bigint };

/** `unreadable` for anything that the service is not specified to send. */
export function parseServerMessage(text: string): CallerEvent {
  const parsed = v.safeParse(v.pipe(v.string(), v.parseJson(), ServerMessage), text);
  return parsed.success ? parsed.output : { type: "unreadable", text };
}

/** The event in a few words, for people. */
export function describeEvent(event: CallerEvent): string {
  switch (event.type) {
    case "transcript":
      return `${event.payload.role}${event.payload.isFinal ? "" : "…"} "${event.payload.text}"`;
    case "error":
      return `error "${event.payload.message}"`;
    case "closed":
      return `closed ${event.code} ${event.reason}`;
    case "audio":
      return `audio of ${event.sound.length} bytes`;
    case "unreadable":
      return `unreadable ${event.text.slice(0, 80)}`;
    case "audioStart":
      return `audioStart of turn ${event.turnId} in ${event.encoding}`;
    case "connected":
    case "audioStop":
    case "audioEnd":
      return event.type;
  }
}
