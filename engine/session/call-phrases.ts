import type { CancelTimer, Clock } from "../time/clock.js";
import type { CallerChannel, SentenceId } from "./playback/caller-channel.js";
import type { PhraseKeeper } from "./playback/phrase-keeper.js";
import type { AgentTts } from "./playback/sentence-speaker.js";
import type { SpeechCache, SpokenSentence } from "./playback/speech-cache.js";

/** The greeting goes to the voice first. */
const PREPARE_AFTER_MS = 300;

export interface PhraseSurroundings {
  readonly caller: CallerChannel;
  readonly phrases: PhraseKeeper;
  readonly tts: AgentTts;
  readonly cache: SpeechCache;
  readonly clock: Clock;
}

/** The phrases that one call can play at once, however its voice is by then. */
export class CallPhrases {
  readonly #around: PhraseSurroundings;
  readonly #onReady: (text: string, spoken: SpokenSentence) => void;
  readonly #ready = new Map<string, SpokenSentence>();
  #isClosed = false;
  #cancel: CancelTimer = () => undefined;

  constructor(around: PhraseSurroundings, onReady: (text: string, spoken: SpokenSentence) => void) {
    this.#around = around;
    this.#onReady = onReady;
  }

  get(text: string): SpokenSentence | undefined {
    return this.#ready.get(text);
  }

  /** Throws for a phrase that is not ready. */
  play(text: string, { turnId, index }: SentenceId): void {
    const spoken = this.#ready.get(text);
    if (spoken === undefined) throw new Error("a phrase that is not ready was to be played");
    this.#around.caller.sendAudio(spoken.audio, { turnId, index }, true);
  }

  /** Those that the voice has said before are ready at once; the others are said one after the other. */
  prepare(texts: readonly string[]): void {
    const { phrases, tts, clock } = this.#around;
    const missing: string[] = [];
    for (const text of texts) {
      const spoken = phrases.find(tts, text);
      if (spoken === undefined) missing.push(text);
      else this.#tell(text, spoken);
    }
    if (missing.length === 0) return;
    this.#cancel = clock.after(PREPARE_AFTER_MS, () => void this.#say(missing));
  }

  close(): void {
    this.#isClosed = true;
    this.#cancel();
  }

  async #say(texts: readonly string[]): Promise<void> {
    const { phrases, tts, cache } = this.#around;
    for (const text of texts) {
      const spoken = await phrases.prepare(tts, text, cache);
      // A voice that fails now is asked again by the next call.
      if (spoken === undefined || this.#isClosed) return;
      this.#tell(text, spoken);
    }
  }

  #tell(text: string, spoken: SpokenSentence): void {
    this.#ready.set(text, spoken);
    this.#onReady(text, spoken);
  }
}
