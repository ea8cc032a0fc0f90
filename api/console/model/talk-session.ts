import { MICROPHONE_FAULTS } from "../../client/call-fault.js";
import {
  BrowserCall,
  type CallEnd,
  CallFault,
  type CallState,
  type Levels,
  type Wait,
  type Words,
} from "../../client/client.js";
import { answered, api } from "./api.js";

export interface Talk {
  readonly state: CallState;
  readonly words: readonly Words[];
  /** What the caller waited for the last reply. */
  readonly wait: Wait | undefined;
  /** What is wrong at the moment, in words for the person at the microphone. */
  readonly fault: CallFault | undefined;
  readonly isMuted: boolean;
  readonly end: CallEnd | undefined;
}

const IDLE: Talk = {
  state: "idle",
  words: [],
  wait: undefined,
  fault: undefined,
  isMuted: false,
  end: undefined,
};
const SILENCE: Levels = { caller: 0, agent: 0 };
/** Long enough for a slow connection, too short to be of use to who reads over a shoulder. */
const TOKEN_SEC = 60;
/** A long call is read in its own page; here its latest words are. */
const WORDS_MAX = 200;

/** The words that are shown after some more: those with the same id are replaced. */
export function withWords(shown: readonly Words[], words: Words): readonly Words[] {
  const at = shown.findIndex(({ id }) => id === words.id);
  return at === -1 ? [...shown, words].slice(-WORDS_MAX) : shown.with(at, words);
}

/** One call after another with an agent, for a page to show. */
export class TalkSession {
  readonly #agentId: string;
  readonly #onTalk = new Set<() => void>();
  readonly #onLevels = new Set<() => void>();
  #call: BrowserCall | undefined;
  #talk = IDLE;
  #levels = SILENCE;

  constructor(agentId: string) {
    this.#agentId = agentId;
  }

  readonly talk = (): Talk => this.#talk;
  readonly levels = (): Levels => this.#levels;
  readonly onTalk = (tell: () => void): (() => void) => listening(this.#onTalk, tell);
  readonly onLevels = (tell: () => void): (() => void) => listening(this.#onLevels, tell);

  /** To be called in a click: browsers let nothing sound before one. */
  async start(): Promise<void> {
    this.#set({ ...IDLE, state: "connecting" });
    const call = new BrowserCall({ token: () => this.#token(), isMicrophoneNeeded: false });
    this.#call = call;
    const change = (changed: Partial<Talk>) => {
      if (this.#call === call) this.#set({ ...this.#talk, ...changed });
    };
    call.on("state", (state) => change({ state }));
    call.on("words", (words) => change({ words: withWords(this.#talk.words, words) }));
    call.on("wait", (wait) => change({ wait }));
    call.on("fault", (fault) => change({ fault }));
    call.on("mended", (code) => {
      const wrong = this.#talk.fault?.code;
      const isOfMicrophone = MICROPHONE_FAULTS.has(code);
      // One microphone mends whatever was wrong with another.
      if (wrong === code || (isOfMicrophone && wrong !== undefined && MICROPHONE_FAULTS.has(wrong)))
        change({ fault: undefined });
    });
    call.on("levels", (levels) => this.#setLevels(levels));
    call.on("ended", (end) => {
      change({ state: "ended", end });
      this.#setLevels(SILENCE);
    });
    try {
      await call.start();
    } catch (error) {
      const unknown = new CallFault("soundFailed", "The call could not be begun.");
      const fault = error instanceof CallFault ? error : unknown;
      change({ state: "ended", fault });
    }
  }

  setMuted(isMuted: boolean): void {
    this.#call?.setMuted(isMuted);
    this.#set({ ...this.#talk, isMuted });
  }

  /** False while nobody is there to read it. */
  write(text: string): boolean {
    return this.#call?.write(text) ?? false;
  }

  /** Asks for the microphone again, in the middle of the call. */
  async retryMicrophone(): Promise<void> {
    const call = this.#call;
    try {
      await call?.sound.useMicrophone();
    } catch (error) {
      const isShown = this.#call === call && error instanceof CallFault;
      if (isShown) this.#set({ ...this.#talk, fault: error });
    }
  }

  hangUp(): void {
    this.#call?.hangUp();
  }

  async #token(): Promise<string> {
    const body = { agentId: this.#agentId, ttlSec: TOKEN_SEC, origin: location.origin };
    return (await answered(api.POST("/api/dashboard/client-tokens", { body }))).token;
  }

  #set(talk: Talk): void {
    this.#talk = talk;
    for (const tell of this.#onTalk) tell();
  }

  #setLevels(levels: Levels): void {
    this.#levels = levels;
    for (const tell of this.#onLevels) tell();
  }
}

function listening(listeners: Set<() => void>, tell: () => void): () => void {
  listeners.add(tell);
  return () => listeners.delete(tell);
}
