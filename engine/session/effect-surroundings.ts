import type { Logger } from "../log.js";
import type { Clock } from "../time/clock.js";
import type { LanguageModel, VendorError } from "../vendors/contracts.js";
import type { ClientMessage, TurnSave } from "./effects.js";
import type { Ending } from "./ending.js";
import type { CallerChannel } from "./playback/caller-channel.js";
import type { PhraseKeeper } from "./playback/phrase-keeper.js";
import type { PlayoutDelays } from "./playback/playout-delay.js";
import type { AgentTts } from "./playback/sentence-speaker.js";
import type { SpeechCache } from "./playback/speech-cache.js";
import type { VoicePaces } from "./playback/voice-paces.js";
import type { Toolbox } from "./tool-use/toolbox.js";

export interface AgentLlm {
  readonly vendor: string;
  readonly client: LanguageModel;
  readonly modelId: string;
  readonly systemPrompt: string;
  readonly temperature: number | null;
  readonly maxTokens: number;
}

/** Where a call is written down, and who is told of its end. */
export interface CallRecorder {
  /** What the caller's client was told. */
  said(message: ClientMessage): void;
  turnSaved(save: TurnSave): void;
  vendorFailed(category: "llm" | "tts" | "stt", error: VendorError): void;
  ended(ending: Ending, save: TurnSave): void;
}

/** What an organization's replies that are begun early may waste. */
export interface EarlyReplyAllowance {
  mayAsk(): boolean;
  /** So many tokens of one were thrown away. */
  wasted(tokens: number): void;
}

/** What the model is told of the part of the conversation that its messages no longer hold; "" where they hold all. */
export interface EarlierConversation {
  readonly note: string;
}

export interface EffectSurroundings {
  readonly clock: Clock;
  readonly llm: AgentLlm;
  readonly tts: AgentTts;
  readonly toolbox: Toolbox;
  readonly earlyReplies: EarlyReplyAllowance;
  readonly cache: SpeechCache;
  readonly playoutDelays: PlayoutDelays;
  readonly voicePaces: VoicePaces;
  readonly phrases: PhraseKeeper;
  readonly caller: CallerChannel;
  readonly recorder: CallRecorder;
  readonly log: Logger;
  readonly earlier?: EarlierConversation;
}
