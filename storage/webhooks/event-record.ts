import type { JsonObject } from "../records.js";

/** Every type of event that endpoints can receive. */
export const EVENT_TYPES = [
  "call.ringing",
  "call.started",
  "turn.completed",
  "tool.completed",
  "call.transferred",
  "transfer.completed",
  "call.ended",
  "call.failed",
  "call.analyzed",
  "recording.ready",
  "callList.held",
  "endpoint.disabled",
  "webhook.test",
] as const;
export type EventType = (typeof EVENT_TYPES)[number];

/** An event before it has a sequence number among those of its call. */
export interface NewEvent {
  /** Storing the same event again uses the same id. Contains no full stop. */
  readonly id: string;
  readonly orgId: string;
  readonly type: EventType;
  /** null if the event belongs to no call. */
  readonly callId: string | null;
  readonly atMs: number;
  readonly data: JsonObject;
}

export interface EventRecord extends NewEvent {
  /** Starts at 1; null if the event belongs to no call. */
  readonly callSequence: number | null;
}

/** The id of an event of a call; `what` is unique within the call. */
export function callEventId(callId: string, what: string): string {
  return `evt_${callId}_${what}`.replaceAll(".", "-");
}

/** The id of the one event that reports the end of a call. */
export function terminalEventId(callId: string): string {
  return callEventId(callId, "end");
}

/** The parties of the call, as far as they are known. */
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
  /** As in the call's metadata. For a refused call, the code of the refusal. */
  readonly endReason: string;
  /** Whether the call was refused before it had a record. */
  readonly isRefused: boolean;
  /** Only of a placed call, as in its metadata. */
  readonly outcome?: string;
  /** Only where an answering machine took the call. */
  readonly voicemail?: JsonObject;
  readonly metrics: JsonObject | null;
}

/** The data of each type of event, besides organization, call and sequence number. */
export interface EventData {
  /** The vendor reports that a placed call is ringing. */
  readonly "call.ringing": CallFacts;
  readonly "call.started": CallFacts & { readonly startedAt: string };
  readonly "turn.completed": {
    readonly turn: number | null;
    readonly kind: string | null;
    readonly outcome: string | null;
    readonly totalMs: number | null;
    readonly endOfTurn: JsonObject | null;
    readonly messages: readonly JsonObject[];
    /** Whether some of the messages are left out; the call's record has all of them. */
    readonly isCut: boolean;
    /** The passages that were retrieved for the reply. */
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
  /** A warm transfer has its outcome: the person has accepted, or the caller does not reach the person. */
  readonly "transfer.completed": {
    readonly to: string;
    readonly mode: "warm";
    /** As in the call's metadata. */
    readonly result: string;
    readonly reason: string;
    readonly acceptedBy: "key" | "voice" | null;
    /** From the order to the acceptance. */
    readonly waitedSec: number | null;
  };
  readonly "call.ended": TerminalFacts;
  readonly "call.failed": TerminalFacts;
  readonly "call.analyzed": {
    readonly agentId: string;
    readonly status: "completed" | "failed";
    readonly success: boolean | null;
    readonly reason: string | null;
    readonly data: JsonObject | null;
    /** Whether the data is left out because it is too large; the call's record has it. */
    readonly isCut: boolean;
    readonly error: string | null;
    readonly model: string | null;
    readonly promptTokens: number;
    readonly completionTokens: number;
    readonly durationMs: number;
    readonly analyzedAt: string;
  };
  readonly "recording.ready": { readonly recording: JsonObject };
  readonly "callList.held": {
    readonly callListId: string;
    readonly name: string;
    /** `running`: it tries again by itself. `paused`: it goes on when it is resumed. */
    readonly state: "running" | "paused";
    /** A code of an error. */
    readonly code: string;
    readonly reason: string;
    readonly heldSince: string;
    readonly retryAt: string | null;
  };
  readonly "endpoint.disabled": { readonly endpointId: string; readonly reason: string };
  readonly "webhook.test": { readonly message: string };
}

/** The input of a new event; the type determines the shape of its data. */
export type EventDraft = {
  readonly [Type in EventType]: Omit<NewEvent, "type" | "data"> & {
    readonly type: Type;
    readonly data: EventData[Type];
  };
}[EventType];

export function newEvent({ data, ...event }: EventDraft): NewEvent {
  return { ...event, data: { ...data } };
}
