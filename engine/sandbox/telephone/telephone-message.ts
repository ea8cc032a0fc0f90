import * as v from "valibot";

/** The longest is an address with its token. */
export const MESSAGE_BYTES_MAX = 16 * 1024;

const text = v.pipe(v.string(), v.maxLength(4_096));

/** Messages from the sandbox's exchange to a connected telephone. */
const ToTelephone = v.variant("event", [
  /** Take the call: request the webhook, open the stream, then send `connected` or `over`. */
  v.strictObject({
    event: v.literal("answer"),
    call: v.strictObject({
      webhookUrl: text,
      callSid: text,
      from: text,
      to: text,
      authToken: text,
      fields: v.exactOptional(v.record(text, text)),
    }),
  }),
  /** Close the stream: the call was hung up, or moves elsewhere. */
  v.strictObject({ event: v.literal("leave") }),
  /** Twilio's state of a number: the telephone's own, or the target of a transfer. */
  v.strictObject({ event: v.literal("status"), number: text, status: text }),
]);

const FromTelephone = v.variant("event", [
  v.strictObject({ event: v.literal("connected") }),
  /** The stream is closed, or could not be opened. */
  v.strictObject({ event: v.literal("over") }),
  /** The telephone makes a call itself: from now on the exchange can hang this call up and transfer it. */
  v.strictObject({ event: v.literal("calling"), callSid: text, to: text }),
]);

export type ToTelephone = v.InferOutput<typeof ToTelephone>;
export type FromTelephone = v.InferOutput<typeof FromTelephone>;

/** Undefined for another message. */
export function parseToTelephone(json: string): ToTelephone | undefined {
  const parsed = v.safeParse(v.pipe(v.string(), v.parseJson(), ToTelephone), json);
  return parsed.success ? parsed.output : undefined;
}

/** Undefined for an invalid message. */
export function parseFromTelephone(json: string): FromTelephone | undefined {
  const parsed = v.safeParse(v.pipe(v.string(), v.parseJson(), FromTelephone), json);
  return parsed.success ? parsed.output : undefined;
}
