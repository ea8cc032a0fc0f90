import assert from "node:assert/strict";
import { AnswerTimes } from "../../../../engine/vendors/chain/answer-times.js";
import type { Chain, ChainWatch } from "../../../../engine/vendors/chain/chain.js";
import { type HedgeAllowance, ModelReply } from "../../../../engine/vendors/chain/llm-chain.js";
import type { Completion, LanguageModel } from "../../../../engine/vendors/contracts.js";
import { ScriptedLanguageModel } from "../../../doubles/scripted-language-model.js";
import { VirtualClock } from "../../../doubles/virtual-clock.js";
import { chainOf } from "./chain-of.js";

const PATIENCE = { firstTokenMs: 2_500, tokenGapMs: 1_200 };
/** A prompt of ten tokens, at four characters each. */
export const MESSAGES = [
  { role: "user", content: "Is there a table for two tomorrow at 8?!" },
] as const;
export const SPOKEN: Completion = {
  finishReason: "stop",
  promptTokens: 100,
  completionTokens: 20,
};
/** Twenty of them are enough to know when a model is late: a fifth later. */
const USUAL_MS = 1_000;
export const LATE_MS = 1_200;

/** Scripted replies of models, with all their events. */
export class ScriptedReplies {
  readonly clock = new VirtualClock();
  readonly first = new ScriptedLanguageModel();
  readonly second = new ScriptedLanguageModel();
  readonly third = new ScriptedLanguageModel();
  chain: Chain<LanguageModel>;
  times = new AnswerTimes();
  told: unknown[] = [];
  readonly tokens: string[] = [];
  readonly call = new AbortController();
  allowance: HedgeAllowance | undefined;

  constructor() {
    this.chain = this.chained(this.first, this.second);
  }

  chained(...clients: readonly LanguageModel[]): Chain<LanguageModel> {
    const watch: ChainWatch = {
      answered: (_category, { vendor }) => this.told.push(["answered", vendor]),
      failed: (_category, { vendor }, { fault, message }, wasted) =>
        this.told.push(["failed", vendor, fault, message, wasted]),
      hedged: (_category, outcome, wastedTokens) => this.told.push([outcome, wastedTokens]),
    };
    const [one, ...others] = clients.map((client, index) => {
      const vendor = ["first", "second"][index] ?? "third";
      return { vendor, modelId: `${vendor}-model`, client };
    });
    assert.ok(one);
    return chainOf("llm", this.clock, watch, [one, ...others]);
  }

  ask(extra: { readonly isBackground?: true } = {}): Promise<Completion> {
    const { chain, times, allowance, call } = this;
    const request = { modelId: "", messages: MESSAGES, temperature: 0, maxTokens: 9, ...extra };
    const terms = { timeouts: PATIENCE, times, ...(allowance && { allowance }) };
    const onToken = (token: string) => void this.tokens.push(token);
    const reply = new ModelReply(chain, terms, { request, onToken, signal: call.signal });
    const completion = reply.complete();
    completion.catch(() => undefined);
    return completion;
  }

  /** This much time passes, and resolved promises run. */
  async pass(ms: number): Promise<void> {
    this.clock.advance(ms);
    await new Promise(setImmediate);
  }

  /** From now on a late model is hedged, within the budget; returns the requests to the budget. */
  hedge(isSpent = true): unknown[] {
    const asked: unknown[] = [];
    this.allowance = {
      used: (count) => void asked.push(["used", count]),
      spend: (count) => {
        asked.push(["spend", count]);
        return isSpent;
      },
    };
    for (const link of this.chain.candidates()) {
      for (let n = 0; n < 20; n += 1) this.times.record(link, USUAL_MS, 10);
    }
    return asked;
  }
}
