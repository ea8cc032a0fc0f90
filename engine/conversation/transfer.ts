import type { Ending } from "./call-end.js";
import { endCall } from "./commit-turn.js";
import { clearDeadline, setDeadline } from "./deadlines.js";
import type { ConversationEffect } from "./effects.js";
import type { TransferRefusedEvent, TransferStartedEvent } from "./events.js";
import { startScripted } from "./playout.js";
import { type ConversationState, type Transfer, turnOf } from "./state.js";

/** A caller who waits in silence for longer takes the line for dead. */
const TRANSFER_MAX_MS = 5_000;

/** How a call without working vendors ends: with a transfer if the agent's settings ask for it and the line can. */
export function providerFailureEnd({ settings }: ConversationState, ending: Ending): Ending {
  if (settings.onProviderFailure === "end") return ending;
  const target = settings.tools.find((tool) => tool.kind === "transfer");
  if (target === undefined) return ending;
  const { to: transferTo, callerId } = target;
  return { ...ending, transferTo, ...(callerId !== undefined && { callerId }) };
}

/** The agent's words have been played: the call ends; a transferred call ends when the vendor has accepted. */
export function endAfterSpeech(
  state: ConversationState,
  turnId: number,
  ending: Ending,
  atMs: number,
  out: ConversationEffect[],
): void {
  const { transferTo, callerId, briefing, neverBlind } = ending;
  if (transferTo === undefined) {
    endCall(state, ending, atMs, out);
    return;
  }
  const transfer = {
    to: transferTo,
    ...(callerId !== undefined && { callerId }),
    ...(briefing !== undefined && { briefing }),
    ...(neverBlind === true && { neverBlind }),
  };
  out.push({ type: "transfer", turnId, transfer });
  setDeadline(state, "transfer", atMs + TRANSFER_MAX_MS);
  state.phase = "transferring";
  state.transfer = { turnId, ending, pendingEnd: undefined };
}

export function onTransferStarted(
  state: ConversationState,
  { isBlind, atMs }: TransferStartedEvent,
  out: ConversationEffect[],
): void {
  if (state.transfer === undefined) return;
  const { briefing: _briefing, ...blind } = state.transfer.ending;
  endCall(state, isBlind === true ? blind : state.transfer.ending, atMs, out);
}

export function onTransferRefused(
  state: ConversationState,
  { turnId, atMs }: TransferRefusedEvent,
  out: ConversationEffect[],
): void {
  const { transfer } = state;
  if (transfer === undefined || transfer.turnId !== turnId) return;
  state.transfer = undefined;
  if (state.phase !== "transferring") return;
  clearDeadline(state, "transfer");
  returnToAgent(state, transfer, atMs, out);
}

/** No answer in time counts as a refusal; if the vendor still accepts, the call ends with the transfer. */
export function onTransferDeadline(
  state: ConversationState,
  atMs: number,
  out: ConversationEffect[],
): void {
  const { transfer } = state;
  if (transfer !== undefined && state.phase === "transferring") {
    returnToAgent(state, transfer, atMs, out);
  }
}

/** The caller's stream has closed. During a transfer, the call ends as the vendor's answer says: returns true. */
export function endInTransfer(state: ConversationState, pendingEnd: Ending): boolean {
  const { transfer } = state;
  if (transfer === undefined || state.phase !== "transferring") return false;
  state.transfer = { ...transfer, pendingEnd };
  return true;
}

function returnToAgent(
  state: ConversationState,
  { pendingEnd, ending }: Transfer,
  atMs: number,
  out: ConversationEffect[],
): void {
  state.phase = "live";
  if (pendingEnd !== undefined) {
    endCall(state, pendingEnd, atMs, out);
  } else if (ending.status === "failed") {
    const { transferTo: _to, callerId: _callerId, briefing: _briefing, ...here } = ending;
    endCall(state, here, atMs, out);
  } else if (turnOf(state) === undefined) {
    startScripted(state, "transferRefused", [state.settings.cannotTransfer], atMs, out);
  }
  // Otherwise the agent may already be saying why the call has to end.
}
