import { type SessionState, withTurnInState } from "./state.js";
import { inTurnShape } from "./turn.js";

/**
 * The same state, with its turn, as one literal makes it. In V8 each place of the code that spreads an object of this size gives
 * its copy a layout of its own: after a few events no two states were alike, and whatever reads or copies one of many
 * layouts takes several times as long (docs/decisions/009). A turn that `before` had has its shape already.
 */
export function inOneShape(state: SessionState, before?: SessionState): SessionState {
  const { turn } = state;
  const isKept = turn === undefined || turn === before?.turn;
  return withTurnInState(state, isKept ? turn : inTurnShape(turn));
}
