import assert from "node:assert/strict";
import { test } from "node:test";
import { stockPhrases } from "../../engine/conversation/lexicon.js";
import { PLAIN_SETTINGS } from "../doubles/recorded-call.js";
import { assertNoWordTwice, assertSound, assertToldTruly } from "./call-invariants.js";
import { SeededRandom } from "./seeded-random.js";
import { type FaultRates, SimulatedWorld } from "./simulated-world.js";

/** `SIMULATION_SEED=n` runs one call again; `SIMULATION_CALLS=n` runs more of them. */
const SEED = process.env["SIMULATION_SEED"];
const COUNT = SEED === undefined ? Number(process.env["SIMULATION_CALLS"] ?? 300) : 1;
const FIRST_SEED = Number(SEED ?? 1);

/** A caller who hears nothing for longer hangs up. */
const SILENCE_MAX_MS = 4_000;
const WAITING = { ...PLAIN_SETTINGS, phrases: stockPhrases("en"), fillerAfterMs: 1_500 };
const HANGING: FaultRates = { model: 0.5, speech: 0.5, stale: 0.3 };
const HEALTHY: FaultRates = { model: 0, speech: 0, stale: 0 };

function forEachSeed(act: (seed: number, random: SeededRandom) => void): void {
  for (let seed = FIRST_SEED; seed < FIRST_SEED + COUNT; seed += 1) {
    try {
      act(seed, new SeededRandom(seed * 104_729));
    } catch (error) {
      throw new Error(`SIMULATION_SEED=${seed} fails`, { cause: error });
    }
  }
}

function askQuestions(world: SimulatedWorld, random: SeededRandom): void {
  for (let question = random.whole(1, 3); question > 0; question -= 1) {
    world.caller.dictate(["what can you do for me"]);
    world.clock.advance(60_000);
    assertSound(world);
  }
}

test(`in ${COUNT} calls with vendors that hang no caller waits in silence for longer than four seconds`, () => {
  forEachSeed((seed, random) => {
    const world = new SimulatedWorld(seed, WAITING, HANGING, false);
    world.send({ type: "opened", resumed: true });
    world.clock.advance(5_000);
    askQuestions(world, random);
    const { longestMs } = world.callerWait;
    assert.ok(longestMs <= SILENCE_MAX_MS, `silent for ${longestMs} ms`);
    world.caller.leave();
    world.caller.leave();
    assertToldTruly(world);
  });
});

const TELEPHONE = { isPaced: true, isStreamed: true };
const BROWSER = { isPaced: false, isStreamed: true };
const WITHOUT_WORDS = { fillerAfterMs: 0 };
const WITHOUT_PHRASES = { fillerAfterMs: 0, phrases: undefined };

/** No sentence is silent for longer in its middle; where no words may end a hole, or none can, the second try has its time. */
const CALLERS = {
  telephones: { line: TELEPHONE, gapMaxMs: 1_000 },
  browsers: { line: BROWSER, gapMaxMs: 1_000 },
  "browsers of whole sentences": { line: {}, gapMaxMs: 0 },
  "telephones without waiting words": {
    line: { ...TELEPHONE, ...WITHOUT_WORDS },
    gapMaxMs: 2_000,
  },
  "browsers without waiting words": { line: { ...BROWSER, ...WITHOUT_WORDS }, gapMaxMs: 2_000 },
  "telephones without a word that is ready": {
    line: { ...TELEPHONE, ...WITHOUT_PHRASES },
    gapMaxMs: 2_000,
  },
} as const;

for (const [weather, faults] of Object.entries({ hang: HANGING, "are well": HEALTHY })) {
  for (const [callers, { line, gapMaxMs }] of Object.entries(CALLERS)) {
    // Where nothing fails there is nothing to say either.
    if (faults === HEALTHY && gapMaxMs > 1_000) continue;
    test(`in ${COUNT} calls of ${callers}, with vendors that ${weather}, no sentence has a hole of more than ${gapMaxMs} ms`, () => {
      forEachSeed((seed, random) => {
        const world = new SimulatedWorld(seed, { ...WAITING, ...line }, faults);
        world.send({ type: "opened", resumed: true });
        world.clock.advance(20_000);
        askQuestions(world, random);
        const { longestMs } = world.loudspeaker.holes;
        assert.ok(longestMs <= gapMaxMs, `a hole of ${longestMs} ms`);
        assertNoWordTwice(world);
        const needless = faults.speech === 0 ? world.secondTries.length : 0;
        assert.equal(needless, 0, "a voice that is well needs no second try");
        world.caller.leave();
        assertToldTruly(world);
      });
    });
  }
}

test(`in ${COUNT} calls a number that is dictated in groups is one turn`, () => {
  forEachSeed((seed, random) => {
    const world = new SimulatedWorld(seed, WAITING, HEALTHY);
    world.send({ type: "opened", resumed: true });
    const groups = Array.from({ length: random.whole(2, 5) }, () =>
      String(random.whole(1_000, 9_999)),
    );
    world.caller.dictate(groups);
    world.clock.advance(3_000);
    const turns = world.effects.flatMap((effect) =>
      effect.type === "send" && effect.message.type === "transcript" && effect.message.isFinal
        ? [effect.message]
        : [],
    );
    const said = turns.filter(({ role }) => role === "user").map(({ text }) => text);
    assert.deepEqual(said, [groups.join(" ")]);
  });
});

test(`in ${COUNT} calls a caller who falls silent gets two reminders, and then the call ends`, () => {
  forEachSeed((seed, random) => {
    const settings = { ...WAITING, idleTimeoutMs: 10_000, isPaced: random.chance(0.5) };
    const world = new SimulatedWorld(seed, settings, HEALTHY);
    world.send({ type: "opened", resumed: random.chance(0.5) });
    if (random.chance(0.5)) world.caller.speak();
    world.clock.advance(180_000);
    assert.equal(world.actor.state.phase, "ended");
    const ends = world.effects.filter((effect) => effect.type === "end");
    const reasons = ends.map(({ ending }) => ending.reason);
    const reminders = world.effects.filter(
      (effect) => effect.type === "saveTurn" && effect.save.report?.kind === "reminder",
    );
    assert.ok(reasons[0] === "agentHungUp" || reminders.length >= 2, `${reasons[0]}`);
    assertToldTruly(world);
  });
});
