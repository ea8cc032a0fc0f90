import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { CALLER_LEFT } from "../../../engine/conversation/call-end.js";
import { step } from "../../../engine/conversation/conversation.js";
import { DEADLINE_NAMES, type DeadlineName } from "../../../engine/conversation/deadlines.js";
import { stockPhrases } from "../../../engine/conversation/lexicon.js";
import {
  type ConversationSettings,
  type ConversationState,
  newConversation,
  turnOf,
} from "../../../engine/conversation/state.js";
import { PLAIN_SETTINGS } from "../../doubles/recorded-call.js";
import { languageSettings } from "./call-script.js";
import { anyEvent, type UnstampedEvent } from "./conversation-events.js";

const HISTORY_MESSAGES_MAX = 20;

const steps = fc.array(
  fc.tuple(fc.integer({ min: 0, max: 3_000 }), anyEvent, fc.constantFrom(...DEADLINE_NAMES)),
  { maxLength: 60 },
);
type Step = readonly [passedMs: number, event: UnstampedEvent, dueDeadline: DeadlineName];
const TOOLS = [
  { kind: "http", name: "weather" },
  { kind: "hangup", name: "hangup" },
  { kind: "transfer", name: "transfer", to: "+100" },
] as const;
const settings = fc.record({
  sensitivity: fc.constantFrom("low", "medium", "high"),
  isPaced: fc.boolean(),
  isStreamed: fc.boolean(),
  tools: fc.constant(TOOLS),
  preemptiveGeneration: fc.boolean(),
  onProviderFailure: fc.constantFrom("end", "transfer"),
  phrases: fc.constantFrom(undefined, stockPhrases("en")),
  repeatRequest: fc.constantFrom("", stockPhrases("en").notRecognized),
  fillerAfterMs: fc.constantFrom(0, 1_500),
  idleTimeoutMs: fc.constantFrom(0, 10_000),
  languages: fc.constantFrom([], ["en-US", "de-DE"].map(languageSettings)),
  outbound: fc.option(
    fc.record({
      awaitsVerdict: fc.boolean(),
      greetsPersonOnly: fc.boolean(),
      voicemailMessage: fc.constantFrom("", "Please call back. Thank you."),
      screeningAnswer: fc.constantFrom("", "This is Acme."),
    }),
    { nil: undefined },
  ),
});

type Given = Pick<
  ConversationSettings,
  | "sensitivity"
  | "isPaced"
  | "isStreamed"
  | "tools"
  | "preemptiveGeneration"
  | "onProviderFailure"
  | "phrases"
  | "repeatRequest"
  | "fillerAfterMs"
  | "idleTimeoutMs"
  | "languages"
  | "outbound"
>;

function play(
  given: Given,
  events: readonly Step[],
  look: (state: ConversationState, effects: readonly unknown[]) => void,
): ConversationState {
  const state = newConversation({ ...PLAIN_SETTINGS, ...given }, []);
  let atMs = 0;
  for (const [passedMs, event, dueDeadline] of events) {
    atMs += passedMs;
    const isDue = event.type === "deadlineReached" && state.phase !== "ended";
    // Also one that is due though nothing waits for it.
    if (isDue) state.deadlines[dueDeadline] = atMs;
    look(state, step(state, { ...event, atMs }));
  }
  return state;
}

test("no order of events makes a transition throw, or a bound be passed", () => {
  fc.assert(
    fc.property(settings, steps, (given, events) => {
      play(given, events, (after) => {
        const turn = turnOf(after);
        assert.ok(after.record.history.length <= HISTORY_MESSAGES_MAX);
        const { sentences = [], fillerCount = 0 } = turn ?? {};
        assert.ok(sentences.length - fillerCount <= 64);
        assert.ok(fillerCount <= 6);
        assert.ok((turn?.sentCount ?? 0) <= (turn?.requestedCount ?? 0));
      });
    }),
    { numRuns: 2_000 },
  );
});

test("the same events give the same call", () => {
  fc.assert(
    fc.property(settings, steps, (given, events) => {
      const first: unknown[] = [];
      const second: unknown[] = [];
      play(given, events, (_, effects) => first.push(effects));
      play(given, events, (_, effects) => second.push(effects));
      assert.deepEqual(first, second);
    }),
    { numRuns: 300 },
  );
});

test("nothing follows the end of a call", () => {
  fc.assert(
    fc.property(settings, steps, anyEvent, (given, events, event) => {
      const state = play(given, events, () => undefined);
      step(state, { type: "endRequested", ending: CALLER_LEFT, atMs: 1_000_000 });
      if (state.phase !== "ended") return;
      const ended = structuredClone(state);
      assert.deepEqual(step(state, { ...event, atMs: 1_000_001 }), []);
      assert.deepEqual(structuredClone(state), ended);
    }),
    { numRuns: 1_000 },
  );
});
