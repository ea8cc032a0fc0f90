import { PreemptiveBudget } from "../../../engine/calls/preemptive-budget.js";
import type { Ending } from "../../../engine/conversation/call-end.js";
import {
  type AgentKnowledgeSource,
  EffectRunner,
} from "../../../engine/conversation/effect-runner.js";
import type { ConversationEffect, TurnSave } from "../../../engine/conversation/effects.js";
import type { ConversationEvent } from "../../../engine/conversation/events.js";
import { WEB_AUDIO } from "../../../engine/conversation/leg-audio.js";
import { PreparedPhrases } from "../../../engine/conversation/prepared-phrases.js";
import { SpeechCache, VoicePaces } from "../../../engine/conversation/speech-cache.js";
import { PlayoutDelays } from "../../../engine/conversation/synthesis.js";
import { EMPTY_TOOLBOX, type Toolbox } from "../../../engine/conversation/toolbox.js";
import type { VendorError } from "../../../engine/vendors/contracts.js";
import { RecordingCaller } from "../../doubles/recording-caller.js";
import { RecordingLogger } from "../../doubles/recording-logger.js";
import { ScriptedLanguageModel } from "../../doubles/scripted-language-model.js";
import { ScriptedVoice } from "../../doubles/scripted-voice.js";
import { VirtualClock } from "../../doubles/virtual-clock.js";

/** The effects of one call, performed with vendors that do what a test has them do. */
export class EffectTrial {
  readonly paces = new VoicePaces();
  readonly clock = new VirtualClock(5_000);
  readonly model = new ScriptedLanguageModel();
  readonly client = new ScriptedVoice();
  readonly caller = new RecordingCaller();
  readonly log = new RecordingLogger();
  readonly saves: TurnSave[] = [];
  readonly failures: string[] = [];
  readonly endings: Ending[] = [];
  readonly languages: string[] = [];
  readonly events: ConversationEvent[] = [];
  readonly runner: EffectRunner;
  #onEvent: () => void = () => undefined;

  constructor(toolbox: Toolbox = EMPTY_TOOLBOX, knowledge?: AgentKnowledgeSource) {
    const { clock, caller, log, model, client } = this;
    const llm = {
      vendor: "scripted",
      client: model,
      modelId: "small",
      systemPrompt: "Be brief.",
      temperature: 0.4,
      maxTokens: 50,
    };
    const tts = {
      vendor: "scripted",
      client,
      modelId: "aria",
      speed: 1,
      language: "en-US",
      format: WEB_AUDIO.sentenceFormat(client),
      cacheKey: "voice",
    };
    const recorder = {
      addMessages: () => {},
      bargedIn: () => {},
      callerTurnEnded: () => {},
      languageSwitched: (language: string) => this.languages.push(language),
      agentMuted: () => {},
      contextAdded: () => {},
      textOrdered: () => {},
      answererChanged: () => {},
      turnSaved: (save: TurnSave) => this.saves.push(save),
      vendorFailed: (category: string, { fault }: VendorError) =>
        this.failures.push(`${category} ${fault}`),
      ended: (ending: Ending) => this.endings.push(ending),
    };
    const cache = new SpeechCache(0);
    const playoutDelays = new PlayoutDelays();
    const phrases = new PreparedPhrases(clock);
    const ttsIn = (language: string) =>
      language === "en-US" ? tts : { ...tts, language, modelId: "katja", cacheKey: language };
    const voice = { tts, ttsIn, cache, playoutDelays, voicePaces: this.paces, phrases };
    const preemptiveReplies = new PreemptiveBudget(100, clock).of("org");
    const deps = {
      clock,
      llm,
      ...voice,
      toolbox,
      preemptiveReplies,
      caller,
      recorder,
      log,
      knowledge,
    };
    this.runner = new EffectRunner(deps, clock.monotonicMs());
    this.runner.deliverTo((event) => {
      this.events.push(event);
      this.#onEvent();
    });
  }

  perform(...effects: ConversationEffect[]): void {
    for (const effect of effects) this.runner.perform(effect);
  }

  ask(turnId: number): void {
    const history = [{ role: "user", content: "hi" } as const];
    this.perform({ type: "requestReply", turnId, history, toolMessages: [] });
  }

  /** Resolves with the event that comes next. */
  next(): Promise<ConversationEvent> {
    return new Promise((resolve) => {
      this.#onEvent = () => {
        const event = this.events.at(-1);
        if (event !== undefined) resolve(event);
      };
    });
  }
}
