import assert from "node:assert/strict";
import { test } from "node:test";
import { SETTING_COSTS } from "../../../api/console/words/setting-costs.js";
import { UTTERANCES } from "../../engine/conversation/paused-utterances.js";
import {
  type Hearing,
  type Listening,
  type Outcome,
  recognize,
} from "../../engine/conversation/recognized-utterance.js";

const ALL = Object.keys(UTTERANCES);

function heard(kinds: readonly string[], listening: Listening, hearing: Hearing): Outcome[] {
  return kinds
    .flatMap((kind) => UTTERANCES[kind] ?? [])
    .map((utterance) => recognize(utterance, listening, hearing));
}

function meanDelayMs(outcomes: readonly Outcome[]): number {
  return Math.round(outcomes.reduce((sum, { delayMs }) => sum + delayMs, 0) / outcomes.length);
}

test("the editor says what the silence before words are final was measured to cost and to gain", () => {
  const paused = Object.values(UTTERANCES)
    .flat()
    .filter(({ said }) => said.some((part) => typeof part === "number"));
  assert.equal(SETTING_COSTS.pausingCallers, paused.length);
  const found = SETTING_COSTS.endpointing.map(({ settingMs }) => ({
    settingMs,
    waitMs: meanDelayMs(heard(["without a pause"], "nova", { endpointingMs: settingMs })),
    cutOffCallers: heard(ALL, "nova", { endpointingMs: settingMs }).filter(
      ({ cutOffs }) => cutOffs > 0,
    ).length,
  }));
  assert.deepEqual(SETTING_COSTS.endpointing, found);
});

test("the editor says what patience was measured to cost who dictates", () => {
  const { dictationWaitMs } = SETTING_COSTS;
  assert.equal(dictationWaitMs, meanDelayMs(heard(["dictated numbers"], "nova", {})));
});

test("the editor says what a reply begun early was measured to gain", () => {
  const most = (preemptiveGeneration: boolean) =>
    Math.max(
      ...heard(ALL, "flux", { preemptiveGeneration }).map(({ preemptiveMs }) => preemptiveMs),
    );
  assert.deepEqual([most(false), most(true)], [0, SETTING_COSTS.preemptiveGainMs]);
});
