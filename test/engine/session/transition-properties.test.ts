import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import type { SessionEvent } from "../../../engine/session/events.js";
import {
  HISTORY_MESSAGES_MAX,
  newSession,
  type SessionSettings,
  type SessionState,
} from "../../../engine/session/state.js";
import { transition } from "../../../engine/session/transition.js";
import { PLAIN_SETTINGS } from "../../doubles/recorded-call.js";

const words = fc.stringMatching(/^[a-z.!?, ]{0,30}$/);
const turnId = fc.integer({ min: 0, max: 6 });
const index = fc.integer({ min: 0, max: 4 });
const ms = fc.integer({ min: 0, max: 20_000 });
const timer = fc.constantFrom("silence", "stall", "ahead", "playback", "phantom", "duration");
const ending = fc.constant({ reason: "callerLeft", status: "completed", message: "bye" } as const);

/** Anything in any order: also what no world would send, such as audio of a sentence that nobody asked for. */
const unstamped = fc.oneof(
  {
    weight: 1,
    arbitrary: fc.record({ type: fc.constant("opened" as const), resumed: fc.boolean() }),
  },
  { weight: 2, arbitrary: fc.record({ type: fc.constant("speechStarted" as const) }) },
  {
    weight: 6,
    arbitrary: fc.record({
      type: fc.constant("transcript" as const),
      text: words,
      isFinal: fc.boolean(),
      speechFinal: fc.boolean(),
      lastWordEndMs: fc.option(ms, { nil: undefined }),
      endedAgoMs: ms,
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      type: fc.constant("utteranceEnd" as const),
      lastWordEndMs: ms,
      endedAgoMs: ms,
    }),
  },
  {
    weight: 6,
    arbitrary: fc.record({ type: fc.constant("replyToken" as const), turnId, text: words }),
  },
  {
    weight: 3,
    arbitrary: fc.record({ type: fc.constant("replyDone" as const), turnId, tokens: ms }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      type: fc.constant("replyFailed" as const),
      turnId,
      retryable: fc.boolean(),
    }),
  },
  {
    weight: 6,
    arbitrary: fc.record({
      type: fc.constant("sentenceWhole" as const),
      turnId,
      index,
      durationMs: fc.integer({ min: 1, max: 9_000 }),
      firstByteAtMs: ms,
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      type: fc.constant("sentenceFailed" as const),
      turnId,
      index,
      retryable: fc.boolean(),
    }),
  },
  { weight: 4, arbitrary: fc.record({ type: fc.constant("timerFired" as const), timer }) },
  { weight: 1, arbitrary: fc.record({ type: fc.constant("endRequested" as const), ending }) },
);
const steps = fc.array(fc.tuple(fc.integer({ min: 0, max: 3_000 }), unstamped), { maxLength: 60 });
const settings = fc.record({ sensitivity: fc.constantFrom("low", "medium", "high") });

function play(
  given: Pick<SessionSettings, "sensitivity">,
  events: readonly [number, Omit<SessionEvent, "atMs">][],
  look: (before: SessionState, after: SessionState, effects: readonly unknown[]) => void,
): SessionState {
  let state = newSession({ ...PLAIN_SETTINGS, ...given }, []);
  let atMs = 0;
  for (const [passedMs, event] of events) {
    atMs += passedMs;
    const step = transition(state, { ...event, atMs } as SessionEvent);
    look(state, step.state, step.effects);
    state = step.state;
  }
  return state;
}

test("no order of events makes a transition throw, or a bound be passed", () => {
  fc.assert(
    fc.property(settings, steps, (given, events) => {
      play(given, events, (_, after) => {
        assert.ok(after.history.length <= HISTORY_MESSAGES_MAX);
        assert.ok((after.turn?.sentences.length ?? 0) <= 64);
        assert.ok((after.turn?.sentCount ?? 0) <= (after.turn?.askedCount ?? 0));
      });
    }),
    { numRuns: 2_000 },
  );
});

test("the state that an event is applied to stays as it was", () => {
  fc.assert(
    fc.property(settings, steps, (given, events) => {
      play(given, events, (before, after) => {
        deepFreeze(before);
        deepFreeze(after);
      });
    }),
    { numRuns: 300 },
  );
});

test("the same events give the same call", () => {
  fc.assert(
    fc.property(settings, steps, (given, events) => {
      const first: unknown[] = [];
      const second: unknown[] = [];
      play(given, events, (_, __, effects) => first.push(effects));
      play(given, events, (_, __, effects) => second.push(effects));
      assert.deepEqual(first, second);
    }),
    { numRuns: 300 },
  );
});

test("nothing follows the end of a call", () => {
  fc.assert(
    fc.property(settings, steps, (given, events) => {
      play(given, events, (before, after, effects) => {
        if (before.phase !== "ended") return;
        assert.equal(after, before);
        assert.deepEqual(effects, []);
      });
    }),
    { numRuns: 1_000 },
  );
});

/** A frozen object that is written to throws: ES modules are strict. */
function deepFreeze(value: unknown): void {
  if (typeof value !== "object" || value === null || Object.isFrozen(value)) return;
  Object.freeze(value);
  for (const inner of Object.values(value)) deepFreeze(inner);
}
