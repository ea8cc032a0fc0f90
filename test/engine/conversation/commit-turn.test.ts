import assert from "node:assert/strict";
import { test } from "node:test";
import { commitTurn } from "../../../engine/conversation/commit-turn.js";
import { EMPTY_LEDGER, recordSent } from "../../../engine/conversation/playback-ledger.js";
import { newConversation, newTurn, setAgentTurn } from "../../../engine/conversation/state.js";
import { changed } from "../../doubles/changed-state.js";
import { PLAIN_SETTINGS } from "../../doubles/recorded-call.js";

const SENTENCE = { text: "One moment.", durationMs: 900, expectedMs: 900, isWhole: true };

test("a turn that nothing was sent of leaves what was spoken before it, whose echo may still come", () => {
  const ledger = recordSent(EMPTY_LEDGER, SENTENCE, 0);
  const spokenBefore = { ledger, untilMs: 900, turnBeforeAtMs: undefined };
  const times = { callerEndedAtMs: 1_000, decidedAtMs: 1_200, attempt: 0 };
  const turn = newTurn({ id: 2, kind: "reply", userText: "Hello?", ...times });
  const state = changed(newConversation(PLAIN_SETTINGS, []), { echo: { spokenBefore }, turn });
  commitTurn(state, turn, "interrupted", 1_500, []);
  assert.equal(state.echo.spokenBefore, spokenBefore);

  const later = recordSent(EMPTY_LEDGER, SENTENCE, 1_300);
  const sent = { ...turn, ledger: later, sentCount: 1 };
  setAgentTurn(state, { state: "replying", turn: sent });
  commitTurn(state, sent, "interrupted", 1_500, []);
  assert.deepEqual(state.echo.spokenBefore, {
    ledger: later,
    untilMs: 1_500,
    turnBeforeAtMs: undefined,
  });
});

test("what was waited in vain counts for the same question, and not for the next one behind a reply that failed", () => {
  const times = { callerEndedAtMs: 1_000, decidedAtMs: 1_200, attempt: 0 };
  const turn = newTurn({ id: 2, kind: "reply", userText: "Hello?", ...times });
  const state = changed(newConversation(PLAIN_SETTINGS, []), { turn });
  const waited = { waitedMs: 8_800, untilMs: 10_000 };
  commitTurn(state, turn, "superseded", 10_000, []);
  assert.deepEqual(state.carriedOverWait, waited);
  setAgentTurn(state, { state: "replying", turn });
  commitTurn(state, turn, "failed", 10_000, []);
  assert.equal(state.carriedOverWait, undefined);
});
