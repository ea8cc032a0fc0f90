import assert from "node:assert/strict";
import { HISTORY_MESSAGES_MAX } from "../../engine/session/state.js";
import type { SimulatedWorld } from "./simulated-world.js";

/** What must hold at every moment of every call. */
export function assertSound(world: SimulatedWorld): void {
  assert.deepEqual(world.crashes, [], "a transition threw");
  const { state } = world.actor;
  assert.ok(state.history.length <= HISTORY_MESSAGES_MAX, "history has a bound");
  assert.ok(state.unsaved.length <= 64, "what is not stored yet has a bound");
  if (state.phase !== "live") return;
  const waitsForAnswer = state.unanswered !== "" || state.turn !== undefined;
  const names = [...world.timers.keys()].filter((name) => name !== "duration");
  assert.ok(
    !waitsForAnswer || names.length > 0,
    "a call that owes the caller something has a timer that sees to it",
  );
  assert.ok(world.timers.has("duration"), "the limit of the call is watched");
}

/** What must hold of everything that one call did. */
export function assertToldTruly(world: SimulatedWorld): void {
  assertPlayedInOrder(world);
  assertOnlyHeardWasWritten(world);
  assertEndedOnce(world);
}

function assertPlayedInOrder({ effects, asked }: SimulatedWorld): void {
  const nextByTurn = new Map<number, number>();
  const aborted = new Set<number>();
  let newestTurn = 0;
  for (const effect of effects) {
    if (effect.type === "abortTurn") aborted.add(effect.turnId);
    if (effect.type !== "play") continue;
    assert.ok(!aborted.has(effect.turnId), "nothing of an aborted turn is played");
    assert.ok(effect.turnId >= newestTurn, "an older turn never speaks again");
    newestTurn = effect.turnId;
    assert.equal(effect.index, nextByTurn.get(effect.turnId) ?? 0, "sentences are played in order");
    nextByTurn.set(effect.turnId, effect.index + 1);
    assert.ok(asked.get(effect.turnId)?.has(effect.index), "only what was synthesized is played");
  }
}

function assertOnlyHeardWasWritten({ effects, asked }: SimulatedWorld): void {
  const generated = [...asked.values()].flatMap((sentences) => [...sentences.values()]);
  const sayable = new Set(generated.flatMap((sentence) => sentence.split(/\s+/)));
  for (const effect of effects) {
    if (effect.type !== "saveTurn" && effect.type !== "end") continue;
    for (const message of effect.save.messages) {
      if (message.role === "user") continue;
      assert.notEqual(message.text, "", "an empty utterance is no utterance");
      for (const word of message.text.split(/\s+/))
        assert.ok(sayable.has(word), `"${word}" was never synthesized`);
    }
    const times = effect.save.messages.map((message) => message.atMs);
    assert.deepEqual(
      times,
      times.toSorted((one, other) => one - other),
      "messages stand in the order of their time",
    );
  }
}

function assertEndedOnce({ effects, timers, actor }: SimulatedWorld): void {
  const ends = effects.filter((effect) => effect.type === "end");
  assert.equal(ends.length, 1, "a call ends once");
  assert.equal(effects.at(-1)?.type, "end", "nothing happens after the end");
  assert.equal(actor.state.phase, "ended");
  assert.equal(timers.size, 0, "no timer outlives its call");
}
