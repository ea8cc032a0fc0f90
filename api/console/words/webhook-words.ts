import type { Answered, Sent } from "../model/contract-paths.js";
import { waitWords } from "./durations.js";

/** A test is sent whatever an endpoint wants. */
type Unsubscribable = "webhook.test";
export type EventType = Exclude<Sent<"createWebhook">["eventTypes"][number], Unsubscribable>;

/** What each event says, in the order in which the form lists them. */
export const EVENT_WORDS: Readonly<Record<EventType, string>> = {
  "call.ringing": "a placed call rings",
  "call.started": "a call has begun",
  "turn.completed": "a turn of a call is stored",
  "tool.completed": "a tool has answered",
  "call.transferred": "a caller was passed on",
  "transfer.completed": "a person has accepted a warm transfer, or it has failed",
  "call.ended": "a call is over",
  "call.failed": "a call has failed or was refused",
  "call.analyzed": "a call was analyzed, or its analysis has failed",
  "recording.ready": "a recording can be downloaded",
  "callList.held": "a call list cannot place calls",
  "endpoint.disabled": "another endpoint was disabled",
};

type Endpoint = Pick<Answered<"getWebhook">, "state" | "failingSince">;

/** Whether events reach the endpoint. */
export function endpointState({ state, failingSince }: Endpoint): {
  readonly tone: "good" | "warn" | "fault";
  readonly text: string;
} {
  if (state === "disabled") return { tone: "fault", text: "disabled" };
  if (failingSince !== null) return { tone: "warn", text: "failing" };
  return { tone: "good", text: "active" };
}

type Delivery = Pick<Answered<"listWebhookDeliveries">[number], "status" | "error" | "durationMs">;

export function isAcknowledged({ status }: Pick<Delivery, "status">): boolean {
  return status !== null && status >= 200 && status < 300;
}

/** What the endpoint answered, and how long it took. */
export function answerWords({ status, error, durationMs }: Delivery): string {
  if (status === null) return `${error ?? "no answer"}, after ${waitWords(durationMs)}`;
  return `${status} in ${waitWords(durationMs)}`;
}
