import type { Ending } from "./call-end.js";
import { endCall } from "./commit-turn.js";
import { clearDeadline, setDeadline } from "./deadlines.js";
import type { SessionEffect } from "./effects.js";
import type { TransferRefusedEvent } from "./events.js";
import { beginScripted } from "./playout.js";
import type { SessionState, Transfer } from "./state.js";

/** The caller waits in silence for the vendor's answer, and takes a longer one for a dead line. */
const TRANSFER_MAX_MS = 5_000;

/** How a call ends that cannot go on for want of vendors: handed on, where the agent says so and somebody can. */
export function providerFailureEnd({ settings }: SessionState, ending: Ending): Ending {
  if (settings.onProviderFailure === "end") return ending;
  const target = settings.tools.find((tool) => tool.kind === "transfer");
  return target === undefined ? ending : { ...ending, transferTo: target.to };
}

/** The agent's words are heard: the call ends; one that is to be handed on does when the vendor has taken it. */
export function endAfterSpeech(
  state: SessionState,
  turnId: number,
  ending: Ending,
  atMs: number,
  out: SessionEffect[],
): SessionState {
  const { transferTo } = ending;
  if (transferTo === undefined) return endCall(state, ending, atMs, out);
  out.push({ type: "transfer", turnId, to: transferTo });
  setDeadline(state, "transfer", atMs + TRANSFER_MAX_MS);
  return { ...state, transfer: { turnId, ending, isGivenUp: false, left: undefined } };
}

export function onTransferTaken(
  state: SessionState,
  atMs: number,
  out: SessionEffect[],
): SessionState {
  const { transfer } = state;
  return transfer === undefined ? state : endCall(state, transfer.ending, atMs, out);
}

export function onTransferRefused(
  state: SessionState,
  { turnId, atMs }: TransferRefusedEvent,
  out: SessionEffect[],
): SessionState {
  const { transfer } = state;
  if (transfer === undefined || transfer.turnId !== turnId) return state;
  const here = { ...state, transfer: undefined };
  if (transfer.isGivenUp) return here;
  clearDeadline(state, "transfer");
  return goOnHere(here, transfer, atMs, out);
}

/** No answer in time is none; the vendor may still take the call, and then it ends so. */
export function onTransferDeadline(
  state: SessionState,
  atMs: number,
  out: SessionEffect[],
): SessionState {
  const { transfer } = state;
  if (transfer === undefined || transfer.isGivenUp) return state;
  return goOnHere({ ...state, transfer: { ...transfer, isGivenUp: true } }, transfer, atMs, out);
}

/** Undefined where no transfer is under way; else the call ends as the vendor's answer says. */
export function leftInTransfer(state: SessionState, left: Ending): SessionState | undefined {
  const { transfer } = state;
  if (transfer === undefined || transfer.isGivenUp) return undefined;
  return { ...state, transfer: { ...transfer, left } };
}

function goOnHere(
  state: SessionState,
  { left, ending }: Transfer,
  atMs: number,
  out: SessionEffect[],
): SessionState {
  if (left !== undefined) return endCall(state, left, atMs, out);
  if (ending.status === "failed") {
    const { transferTo: _to, ...here } = ending;
    return endCall(state, here, atMs, out);
  }
  // The agent may be telling by now why the call has to end.
  if (state.turn !== undefined) return state;
  const words = state.settings.cannotTransfer;
  return beginScripted(state, "transferRefused", [words], atMs, out);
}
