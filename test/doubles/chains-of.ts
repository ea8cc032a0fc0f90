import type { ChainDeps } from "../../engine/calls/agent-vendors.js";
import type { Clock } from "../../engine/time/clock.js";
import { AnswerTimes } from "../../engine/vendors/chain/answer-times.js";
import { Breakers } from "../../engine/vendors/chain/breakers.js";
import { Hedging } from "../../engine/vendors/chain/llm-chain.js";
import { SpeechDurations } from "../../engine/vendors/chain/speech-durations.js";

/** An operator's settings without any changes. */
export const PATIENCE = {
  firstTokenMs: 2_500,
  tokenGapMs: 1_200,
  firstByteMs: 1_500,
  connectMs: 3_000,
};

export function chainsOf(clients: ChainDeps["clients"], clock: Clock): ChainDeps {
  const hedging = new Hedging(0.05);
  const breakers = new Breakers(clock);
  const [times, durations] = [new AnswerTimes(), new SpeechDurations()];
  return { clients, clock, breakers, timeouts: PATIENCE, times, durations, hedging };
}
