import type {
  CallMetrics,
  CallRecord,
  JsonObject,
  TranscriptMessage,
} from "../../storage/records.js";
import {
  type CallFacts,
  callEventId,
  type NewEvent,
  newEvent,
  terminalEventId,
} from "../../storage/webhooks/event-record.js";
import { type CallOutcome, type Ending, outcomeOf } from "../conversation/call-end.js";
import type { TurnSave } from "../conversation/effects.js";
import type { TurnKnowledge } from "../knowledge/call-knowledge.js";
import type { CallInfo } from "../telephony/call-info.js";
import type { TransferResult } from "../telephony/transfer-report.js";
import type { TurnTools } from "../tools/tool-log.js";
import type { EventFilter } from "./event-filters.js";

/** The maximum size of one turn's words in an event, in bytes of JSON: a delivery has less than 20 kB. */
const WORDS_MAX_BYTES = 12_000;

/** The call of an event. */
export interface StreamedCall {
  readonly callId: string;
  readonly orgId: string;
  readonly agentId: string | null;
  readonly channel: "web" | "phone";
  readonly callInfo?: CallInfo | undefined;
}

export interface RefusedCall extends StreamedCall {
  readonly reason: string;
}

export interface CallOver {
  readonly startedAtMs: number;
  readonly endedAtMs: number;
  readonly durationSec: number;
  readonly status: "completed" | "failed";
  readonly ending: Ending;
  readonly metrics: CallMetrics;
}

export interface FinishedTurn {
  readonly call: StreamedCall;
  /** The number of the turn in its call, from 1. */
  readonly place: number;
  readonly save: TurnSave;
  readonly messages: readonly TranscriptMessage[];
  readonly used: TurnTools & TurnKnowledge;
  readonly isWanted: EventFilter;
}

function factsOf({ agentId, channel, callInfo }: StreamedCall): CallFacts {
  const direction = channel === "web" ? "web" : (callInfo?.direction ?? null);
  return { agentId, channel, direction, from: callInfo?.from ?? null, to: callInfo?.to ?? null };
}

function isoTime(atMs: number): string {
  return new Date(atMs).toISOString();
}

export function callRingingEvent(call: StreamedCall, atMs: number) {
  const { callId, orgId } = call;
  const id = callEventId(callId, "ring");
  const data = factsOf(call);
  return { ...newEvent({ id, orgId, type: "call.ringing", callId, atMs, data }), callId };
}

export function callStartedEvent(call: StreamedCall, atMs: number): NewEvent {
  const { callId, orgId } = call;
  const id = callEventId(callId, "start");
  const data = { ...factsOf(call), startedAt: isoTime(atMs) };
  return newEvent({ id, orgId, type: "call.started", callId, atMs, data });
}

/** The events of a finished turn, its tools first. */
export function turnEvents(finished: FinishedTurn, atMs: number): readonly NewEvent[] {
  const { call, place, save, messages, used, isWanted } = finished;
  const { callId, orgId } = call;
  const turn = save.report?.turn ?? null;
  const finishedTools = isWanted("tool.completed") ? (used.tools ?? []) : [];
  const toolEvents = finishedTools.map(({ name, ok, ms }, index) => {
    const id = callEventId(callId, `turn${place}-tool${index + 1}`);
    const data = { turn, name, ok, durationMs: ms };
    return newEvent({ id, orgId, type: "tool.completed", callId, atMs, data });
  });
  if (!isWanted("turn.completed")) return toolEvents;
  const isCut = Buffer.byteLength(JSON.stringify(messages)) > WORDS_MAX_BYTES;
  const { kind = null, outcome = null, totalMs = null, endOfTurn } = save.report ?? {};
  const completed = newEvent({
    id: callEventId(callId, `turn${place}`),
    orgId,
    type: "turn.completed",
    callId,
    atMs,
    data: {
      turn,
      kind,
      outcome,
      totalMs,
      endOfTurn: endOfTurn === undefined ? null : { ...endOfTurn },
      messages: isCut ? [] : messages.map((message) => ({ ...message })),
      isCut,
      passages: (used.passages ?? []).map(({ documentId, documentName, position }) => ({
        documentId,
        documentName,
        position,
      })),
      metrics: { ...save.metrics },
    },
  });
  return [...toolEvents, completed];
}

/** What the record and the event of a placed call say of its end, besides the reason; nothing of other calls. */
export function placedCallFacts(
  { callInfo }: Pick<StreamedCall, "callInfo">,
  ending: Ending,
  status: "completed" | "failed",
): { readonly outcome?: CallOutcome; readonly voicemail?: JsonObject } {
  if (callInfo?.direction !== "outbound") return {};
  const { voicemail } = ending;
  const outcome = outcomeOf(ending, status);
  return { outcome, ...(voicemail !== undefined && { voicemail: { ...voicemail } }) };
}

/** The one event for the end of a recorded call, preceded by that of its transfer, if there was one. */
export function callEndedEvents(call: StreamedCall, over: CallOver): readonly NewEvent[] {
  const { callId, orgId } = call;
  const { startedAtMs, endedAtMs: atMs, durationSec, status, ending, metrics } = over;
  const end = newEvent({
    id: terminalEventId(callId),
    orgId,
    type: status === "completed" ? "call.ended" : "call.failed",
    callId,
    atMs,
    data: {
      ...factsOf(call),
      startedAt: isoTime(startedAtMs),
      endedAt: isoTime(atMs),
      durationSec,
      endReason: ending.reason,
      isRefused: false,
      ...placedCallFacts(call, ending, status),
      metrics: { ...metrics },
    },
  });
  const { transferTo: to, briefing } = ending;
  if (to === undefined) return [end];
  const id = callEventId(callId, "transfer");
  const data = { to, mode: briefing === undefined ? "blind" : "warm" } as const;
  return [newEvent({ id, orgId, type: "call.transferred", callId, atMs, data }), end];
}

/** The outcome of a transfer. */
export interface TransferOutcome {
  readonly to: string;
  readonly mode: "blind" | "warm";
  /** Distinguishes the transfers of a call, of which at most one is blind and was made. */
  readonly startedAtMs: number;
  readonly result: TransferResult;
  readonly reason?: string;
  readonly acceptedBy?: "key" | "voice";
  readonly waitedSec?: number;
  /** How long the two of a blind transfer talked, where the vendor says it. */
  readonly durationSec?: number | undefined;
}

export function transferCompletedEvent(
  { id: callId, orgId }: Pick<CallRecord, "id" | "orgId">,
  { startedAtMs, to, mode, result, reason = "", ...more }: TransferOutcome,
  atMs: number,
): NewEvent {
  const { acceptedBy = null, waitedSec = null, durationSec = null } = more;
  return newEvent({
    id: callEventId(callId, `transfer-${startedAtMs}-${result}`),
    orgId,
    type: "transfer.completed",
    callId,
    atMs,
    data: { to, mode, result, reason, acceptedBy, waitedSec, durationSec },
  });
}

/** A call that was refused and has no record. */
export function callRefusedEvent(call: RefusedCall, atMs: number): NewEvent {
  const { callId, orgId, reason: endReason } = call;
  const moment = isoTime(atMs);
  return newEvent({
    id: terminalEventId(callId),
    orgId,
    type: "call.failed",
    callId,
    atMs,
    data: {
      ...factsOf(call),
      startedAt: moment,
      endedAt: moment,
      durationSec: 0,
      endReason,
      isRefused: true,
      metrics: null,
    },
  });
}
