import { waitWords } from "./durations.js";

/**
 * What settings of an agent were measured to cost and to gain. The figures are found by `npm test -- setting-costs` (the 28
 * utterances of docs/guides/turn-taking.md, heard by the sandbox's recognizers) and `npm test -- hedging-gain` (a model that is 2 s
 * late for one reply in 20). Both fail where other figures stand here.
 */
export const SETTING_COSTS = {
  /** What a caller waits after a sentence without a pause, and how many of those who pause are cut off, by the setting. */
  endpointing: [
    { settingMs: 200, waitMs: 200, cutOffCallers: 15 },
    { settingMs: 400, waitMs: 400, cutOffCallers: 8 },
    { settingMs: 600, waitMs: 600, cutOffCallers: 3 },
  ],
  pausingCallers: 22,
  /** After a dictated number, where the caller may pause. */
  dictationWaitMs: 1_464,
  /**
   * How much earlier the LLM is asked if the STT waits for a full stop that never comes; elsewhere it is not earlier.
   */
  preemptiveGainMs: 400,
  hedging: { slowestMs: 2_000, hedgedSlowestMs: 1_248, tokensPercent: 4.5 },
} as const;

const { endpointing, pausingCallers, dictationWaitMs, preemptiveGainMs, hedging } = SETTING_COSTS;

const callers = endpointing.map(
  ({ settingMs, cutOffCallers }) => `${cutOffCallers} at ${settingMs}`,
);

/** The figures as sentences, to stand beside the settings. */
export const SETTING_COST_WORDS = {
  endpointingMs: `Measured: every reply waits as long. Of ${pausingCallers} callers who paused it cut off ${callers.join(", ")}.`,
  maxEndpointingDelayMs: `Measured: a reply to a dictated number waits ${waitWords(dictationWaitMs)}; other replies wait no longer.`,
  preemptiveGeneration: `Measured: up to ${waitWords(preemptiveGainMs)} sooner, after sentences that just stop.`,
  hedging: `Measured: with a model that is late one time in 20, the slowest replies began after ${waitWords(hedging.hedgedSlowestMs)} instead of ${waitWords(hedging.slowestMs)}, for ${hedging.tokensPercent} % more tokens.`,
} as const;
