import type { JsonObject } from "../records.js";

/** Everything that may be sent to an endpoint. */
export const EVENT_TYPES = [
  "call.ringing",
  "call.started",
  "turn.completed",
  "tool.completed",
  "call.transferred",
  "call.ended",
  "call.failed",
  "call.analyzed",
  "recording.ready",
  "endpoint.disabled",
  "webhook.test",
] as const;
export type EventType = (typeof EVENT_TYPES)[number];

/** An event before it has its place among those of its call. */
export interface NewEvent {
  /** The same for the same event however often it is stored; without a full stop. */
  readonly id: string;
  readonly orgId: string;
  readonly type: EventType;
  /** null = of no call. */
  readonly callId: string | null;
  readonly atMs: number;
  readonly data: JsonObject;
}

export interface EventRecord extends NewEvent {
  /** From 1; null = of no call. */
  readonly callSequence: number | null;
}

/** The id of an event of a call; `what` is unique in the call. */
export function callEventId(callId: string, what: string): string {
  return `evt_${callId}_${what}`.replaceAll(".", "-");
}

/** The id of the one event that says that a call is over. */
export function terminalEventId(callId: string): string {
  return callEventId(callId, "end");
}

/** Who talks with whom, where that is known. */
export interface CallFacts {
  readonly agentId: string | null;
  readonly channel: "web" | "phone";
  readonly direction: string | null;
  readonly from: string | null;
  readonly to: string | null;
}

interface TerminalFacts extends CallFacts {
  readonly startedAt: string;
  readonly endedAt: string;
  readonly durationSec: number;
  /** As in the call's metadata; of a refused call the code of the refusal. */
  readonly endReason: string;
  /** It was turned away before it had a record. */
  readonly isRefused: boolean;
  readonly metrics: JsonObject | null;
}

/** What each type of event says, beside organization, call and place. */
export interface EventData {
  /** The vendor says that a placed call rings. */
  readonly "call.ringing": CallFacts;
  readonly "call.started": CallFacts & { readonly startedAt: string };
  readonly "turn.completed": {
    readonly turn: number | null;
    readonly kind: string | null;
    readonly outcome: string | null;
    readonly totalMs: number | null;
    readonly endOfTurn: JsonObject | null;
    readonly messages: readonly JsonObject[];
    /** Some of the words are left out: they stand in the call's record. */
    readonly isCut: boolean;
    /** What was looked up for the reply. */
    readonly passages: readonly {
      readonly documentId: string;
      readonly documentName: string;
      readonly position: number;
    }[];
    readonly metrics: JsonObject;
  };
  readonly "tool.completed": {
    readonly turn: number | null;
    readonly name: string;
    readonly ok: boolean;
    readonly durationMs: number;
  };
  readonly "call.transferred": { readonly to: string; readonly mode: "blind" | "warm" };
  readonly "call.ended": TerminalFacts;
  readonly "call.failed": TerminalFacts;
  readonly "call.analyzed": {
    readonly agentId: string;
    readonly status: "completed" | "failed";
    readonly success: boolean | null;
    readonly reason: string | null;
    readonly data: JsonObject | null;
    /** The data does not fit: it stands in the call's record. */
    readonly isCut: boolean;
    readonly error: string | null;
    readonly model: string | null;
    readonly promptTokens: number;
    readonly completionTokens: number;
    readonly durationMs: number;
    readonly analyzedAt: string;
  };
  readonly "recording.ready": { readonly recording: JsonObject };
  readonly "endpoint.disabled": { readonly endpointId: string; readonly reason: string };
  readonly "webhook.test": { readonly message: string };
}

/** What a new event is made of; its data is what its type says. */
export type EventDraft = {
  readonly [Type in EventType]: Omit<NewEvent, "type" | "data"> & {
    readonly type: Type;
    readonly data: EventData[Type];
  };
}[EventType];

export function newEvent({ data, ...event }: EventDraft): NewEvent {
  return { ...event, data: { ...data } };
}
