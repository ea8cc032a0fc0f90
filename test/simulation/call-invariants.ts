import assert from "node:assert/strict";
import { DEADLINE_NAMES } from "../../engine/conversation/deadlines.js";
import type { SaidMessage } from "../../engine/conversation/effects.js";
import { HISTORY_MESSAGES_MAX, turnOf } from "../../engine/conversation/state.js";
import type { SimulatedCaller } from "./simulated-caller.js";
import type { SimulatedWorld } from "./simulated-world.js";

/** What must hold at every moment of every call. */
export function assertSound(world: SimulatedWorld): void {
  assert.deepEqual(world.crashes, [], "a step threw");
  const { state } = world.actor;
  assert.ok(state.record.history.length <= HISTORY_MESSAGES_MAX, "history has a bound");
  assert.ok(state.record.unsaved.length <= 64, "what is not stored yet has a bound");
  if (state.phase === "opening" || state.phase === "ended") return;
  const waitsForAnswer = state.user.unanswered !== "" || turnOf(state) !== undefined;
  const names = DEADLINE_NAMES.filter((name) => state.deadlines[name] !== undefined);
  assert.ok(
    !waitsForAnswer || names.some((name) => name !== "maxDuration"),
    "a call that owes the caller something has a deadline that sees to it",
  );
  assert.ok(names.includes("maxDuration"), "the limit of the call is watched");
}

/** What must hold of everything that one call did. */
export function assertToldTruly(world: SimulatedWorld): void {
  assertPlayedInOrder(world);
  assertOnlyHeardWasWritten(world);
  assertHeardIsTold(world);
  assertNoWordTwice(world);
  assertEndedOnce(world);
}

/** By the voice's own pace an interrupted turn is told to the word, give or take these. */
const WORDS_ASTRAY_MAX = 2;

/** What a second try says is what the first has not. */
export function assertNoWordTwice({ secondTries }: SimulatedWorld): void {
  for (const { twice, never } of secondTries) {
    assert.ok(twice <= WORDS_ASTRAY_MAX, `${twice} words were heard twice`);
    assert.ok(never <= WORDS_ASTRAY_MAX, `${never} words were never said`);
  }
}

function assertHeardIsTold({ truth }: SimulatedWorld): void {
  for (const { heard, told } of truth.noted) {
    assert.ok(Math.abs(heard - told) <= WORDS_ASTRAY_MAX, `${heard} words heard, ${told} told`);
  }
}

/** What must hold between what the caller said and heard, and what was written and asked. */
export function assertUnderstood(world: SimulatedWorld, caller: SimulatedCaller): void {
  const saved = savedMessages(world);
  const written = wordsBy("user", saved);
  for (const word of caller.said) assert.ok(written.includes(word), `"${word}" was lost`);
  for (const word of caller.said.filter(isCallersOwn)) {
    assert.equal(written.filter((other) => other === word).length, 1, `"${word}" was said once`);
  }
  for (const effect of world.effects) {
    if (effect.type !== "requestReply") continue;
    const asked = effect.history.filter(({ role }) => role === "user");
    const words = asked.flatMap(({ content }) => content.split(" ")).filter(isCallersOwn);
    assert.equal(new Set(words).size, words.length, "the model is asked once");
  }
  assertHistoryWasTold(world, saved);
}

/** The messages that a call has had written, oldest first. */
function savedMessages({ effects }: SimulatedWorld) {
  return effects.flatMap((effect) =>
    effect.type === "saveTurn" || effect.type === "end" ? effect.save.messages : [],
  );
}

/** Words that only the agent has said, and that were taken for the caller's. */
export function answeredEchoes(world: SimulatedWorld, caller: SimulatedCaller): readonly string[] {
  const saved = savedMessages(world);
  const written = new Set(wordsBy("user", saved));
  return caller.echoed.filter((word) => written.has(word));
}

/** What must hold when a call that nobody has ended has come to rest: every word of the caller's was asked of the model as the newest. */
export function assertAsked({ effects }: SimulatedWorld, { said }: SimulatedCaller): void {
  // What is said while a vendor takes the call over is kept, and answered by whoever takes it.
  if (effects.some(({ type }) => type === "transfer")) return;
  const newest = new Set<string>();
  for (const effect of effects) {
    if (effect.type !== "requestReply" && effect.type !== "startPreemptiveReply") continue;
    const messages =
      effect.type === "requestReply" ? [...effect.history, ...effect.toolMessages] : effect.history;
    const from = messages.findLastIndex(
      (message) => message.role === "assistant" && message.content !== "",
    );
    for (const { role, content } of messages.slice(from + 1)) {
      if (role === "user") for (const word of content.split(" ")) newest.add(word);
    }
  }
  for (const word of said.filter(isCallersOwn)) {
    assert.ok(newest.has(word), `"${word}" was never answered`);
  }
}

/** Words with numbers, which only one side says. */
const isCallersOwn = (word: string): boolean =>
  /^(?:pizza|train|doctor|garden|invoice)\d+$/.test(word);

/** The transcript tells what was heard, and the model knows of nothing else. */
function assertHistoryWasTold(world: SimulatedWorld, saved: readonly SaidMessage[]): void {
  const told = new Set(wordsBy("assistant", saved));
  for (const effect of world.effects) {
    if (effect.type !== "requestReply") continue;
    const answers = effect.history.filter(({ role }) => role === "assistant");
    for (const word of answers.flatMap(({ content }) => content.split(" "))) {
      assert.ok(told.has(word), `"${word}" is in the history and not in the transcript`);
    }
  }
}

function wordsBy(role: SaidMessage["role"], messages: readonly SaidMessage[]): readonly string[] {
  return messages.filter((said) => said.role === role).flatMap(({ text }) => text.split(" "));
}

function assertPlayedInOrder({ effects, asked }: SimulatedWorld): void {
  const nextByTurn = new Map<number, number>();
  const aborted = new Set<number>();
  const dropped = new Map<number, number>();
  let newestTurn = 0;
  for (const effect of effects) {
    if (effect.type === "abortTurn") aborted.add(effect.turnId);
    if (effect.type === "dropAudio") dropped.set(effect.turnId, effect.index);
    if (effect.type !== "play") continue;
    assert.ok(!aborted.has(effect.turnId), "nothing of an aborted turn is played");
    assert.ok(effect.turnId >= newestTurn, "an older turn never speaks again");
    newestTurn = effect.turnId;
    const from = dropped.get(effect.turnId);
    dropped.delete(effect.turnId);
    // The rest of a sentence that was cut has a number of its own, if the beginning was heard.
    const next = from === undefined ? [nextByTurn.get(effect.turnId) ?? 0] : [from, from + 1];
    assert.ok(next.includes(effect.index), "sentences are played in order");
    nextByTurn.set(effect.turnId, effect.index + 1);
    assert.ok(asked.get(effect.turnId)?.has(effect.index), "only what was synthesized is played");
  }
}

function assertOnlyHeardWasWritten({ effects, asked }: SimulatedWorld): void {
  const generated = [...asked.values()].flatMap((sentences) => [...sentences.values()]);
  const phrases = effects.flatMap((effect) => (effect.type === "playPhrase" ? [effect.text] : []));
  const sayable = new Set([...generated, ...phrases].flatMap((sentence) => sentence.split(/\s+/)));
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

function assertEndedOnce({ effects, wakesAtMs, actor }: SimulatedWorld): void {
  const ends = effects.filter((effect) => effect.type === "end");
  assert.equal(ends.length, 1, "a call ends once");
  assert.equal(effects.at(-1)?.type, "end", "nothing happens after the end");
  assert.equal(actor.state.phase, "ended");
  assert.equal(wakesAtMs, undefined, "no timer outlives its call");
}
