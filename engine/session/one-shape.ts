import { type SessionState, withTurnInState } from "./state.js";
import type { Turn } from "./turn.js";

/**
 * The same state, with its turn, as one literal makes it. In V8 each place of the code that spreads an object of this size gives
 * its copy a layout of its own: after a few events no two states were alike, and whatever reads or copies one of many
 * layouts takes several times as long (docs/decisions/009). A turn that `before` had has its shape already.
 */
export function inOneShape(state: SessionState, before?: SessionState): SessionState {
  const { turn } = state;
  const isKept = turn === undefined || turn === before?.turn;
  return withTurnInState(state, isKept ? turn : copyOf(turn));
}

function copyOf(turn: Turn): Turn {
  return {
    id: turn.id,
    kind: turn.kind,
    userText: turn.userText,
    callerEndedAtMs: turn.callerEndedAtMs,
    decidedAtMs: turn.decidedAtMs,
    earlyMs: turn.earlyMs,
    wastedTokens: turn.wastedTokens,
    waitedBeforeMs: turn.waitedBeforeMs,
    attempt: turn.attempt,
    generating: turn.generating,
    splitter: turn.splitter,
    replyChars: turn.replyChars,
    sentences: turn.sentences,
    askedCount: turn.askedCount,
    sentCount: turn.sentCount,
    waitingWords: turn.waitingWords,
    ledger: turn.ledger,
    underruns: turn.underruns,
    heldInVain: turn.heldInVain,
    progressAtMs: turn.progressAtMs,
    onsetAtMs: turn.onsetAtMs,
    hasWaitedForWords: turn.hasWaitedForWords,
    firstTokenAtMs: turn.firstTokenAtMs,
    firstSentenceAtMs: turn.firstSentenceAtMs,
    firstByteAtMs: turn.firstByteAtMs,
    firstAudioAtMs: turn.firstAudioAtMs,
    faulty: turn.faulty,
    hopeless: turn.hopeless,
    toolMessages: turn.toolMessages,
    toolsWaiting: turn.toolsWaiting,
    toolRounds: turn.toolRounds,
    ending: turn.ending,
  };
}
