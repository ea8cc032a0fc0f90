import * as v from "valibot";

/**
 * With the time on the machine's monotonic clock. `audio` is told only where the agent begins to sound after silence, and
 * `quiet` once it has not sounded for QUIET_MS, with the time of its last sound.
 */
export type PhoneCallerEvent = { readonly atNs: bigint } & (
  | { readonly type: "audio" | "clear" | "quiet" }
  | { readonly type: "mark" | "markEchoed"; readonly name: string }
  /** A message that the vendor drops with a warning. */
  | { readonly type: "dropped"; readonly text: string }
  | { readonly type: "closed"; readonly code: number; readonly reason: string }
);

/** Longer than the pauses between an agent's sentences; who listens takes it for the end of the reply. */
export const QUIET_MS = 1_000;

/** Strict, as the vendor is: a field too many, and the message is dropped. */
const AgentMessage = v.variant("event", [
  v.strictObject({
    event: v.literal("media"),
    streamSid: v.string(),
    media: v.strictObject({ payload: v.pipe(v.string(), v.base64()) }),
  }),
  v.strictObject({
    event: v.literal("mark"),
    streamSid: v.string(),
    mark: v.strictObject({ name: v.string() }),
  }),
  v.strictObject({ event: v.literal("clear"), streamSid: v.string() }),
]);

const AgentText = v.pipe(v.string(), v.parseJson(), AgentMessage);
export type AgentMessage = v.InferOutput<typeof AgentMessage>;

/** Undefined for what the vendor would drop. */
export function parseAgentMessage(text: string): AgentMessage | undefined {
  const parsed = v.safeParse(AgentText, text);
  return parsed.success ? parsed.output : undefined;
}

export function describePhoneEvent(event: PhoneCallerEvent): string {
  if ("name" in event) return `${event.type} ${event.name}`;
  if ("code" in event) return `closed ${event.code} ${event.reason}`;
  return "text" in event ? `dropped ${event.text}` : event.type;
}
