import { MICROPHONE_ERRORS } from "../../client/call-error.js";
import {
  BrowserCall,
  type CallEnd,
  CallError,
  type CallState,
  type Levels,
  type Wait,
  type Words,
} from "../../client/client.js";
import { answered, api } from "./api.js";
import { SERVER_URL } from "./server-address.js";

export interface Talk {
  readonly state: CallState;
  /** Its record's id, once it is connected. */
  readonly callId: string | undefined;
  readonly words: readonly Words[];
  /** What the caller waited for the last reply. */
  readonly wait: Wait | undefined;
  /** What is wrong at the moment, in words for the person at the microphone. */
  readonly fault: CallError | undefined;
  readonly hasMicrophone: boolean;
  readonly isMuted: boolean;
  readonly end: CallEnd | undefined;
}

const IDLE: Talk = {
  state: "idle",
  callId: undefined,
  words: [],
  wait: undefined,
  fault: undefined,
  hasMicrophone: false,
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
  readonly #isTyped: () => boolean;
  readonly #onTalk = new Set<() => void>();
  readonly #onLevels = new Set<() => void>();
  #call: BrowserCall | undefined;
  #talk = IDLE;
  #levels = SILENCE;
  /** For the agent's variables, in the calls that begin from now on; an empty value is not given. */
  variables: Readonly<Record<string, string>> = {};
  /** What was chosen holds for the next call of this page, too; empty: the system's own choice. */
  #chosen = { microphoneId: "", loudspeakerId: "", volume: 1 };

  /** `isTyped`: whether a call begins without a microphone, for an agent that cannot understand speech. */
  constructor(agentId: string, isTyped: () => boolean = () => false) {
    this.#agentId = agentId;
    this.#isTyped = isTyped;
  }

  readonly talk = (): Talk => this.#talk;
  readonly levels = (): Levels => this.#levels;

  get microphoneId(): string {
    return this.#chosen.microphoneId;
  }

  get loudspeakerId(): string {
    return this.#chosen.loudspeakerId;
  }

  /** From 0 to 1. */
  get volume(): number {
    return this.#chosen.volume;
  }

  readonly onTalk = (tell: () => void): (() => void) => listening(this.#onTalk, tell);
  readonly onLevels = (tell: () => void): (() => void) => listening(this.#onLevels, tell);

  /** To be called in a click: browsers let nothing sound before one. */
  async start(): Promise<void> {
    this.#set({ ...IDLE, state: "connecting" });
    const call = new BrowserCall({
      server: SERVER_URL,
      token: () => this.#token(),
      isMicrophoneNeeded: false,
      opensMicrophone: !this.#isTyped(),
      microphoneId: this.microphoneId || undefined,
    });
    call.setVolume(this.volume);
    this.#call = call;
    const change = (changed: Partial<Talk>) => {
      if (this.#call === call) this.#set({ ...this.#talk, ...changed });
    };
    call.on("state", (state) => change({ state }));
    call.on("connected", ({ callId, isAgain }) => {
      change({ callId });
      if (!isAgain && this.loudspeakerId !== "") void this.useLoudspeaker(this.loudspeakerId);
    });
    call.on("words", (words) => change({ words: withWords(this.#talk.words, words) }));
    call.on("wait", (wait) => change({ wait }));
    call.on("microphone", ({ state }) => change({ hasMicrophone: state === "open" }));
    call.on("fault", (fault) => change({ fault }));
    call.on("mended", (code) => {
      const wrong = this.#talk.fault?.code;
      const isOfMicrophone = MICROPHONE_ERRORS.has(code);
      // One microphone mends whatever was wrong with another.
      if (wrong === code || (isOfMicrophone && wrong !== undefined && MICROPHONE_ERRORS.has(wrong)))
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
      const unknown = new CallError("soundFailed", "The call could not be started.");
      const fault = error instanceof CallError ? error : unknown;
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

  /**
   * Takes that microphone, or asks for the one before again, in the middle of the call. Where it cannot be had, the one
   * before stays.
   */
  async useMicrophone(deviceId = this.microphoneId): Promise<void> {
    const changing = this.#call?.sound.useMicrophone(deviceId || undefined);
    const isChanged = await this.#changed(changing, (code) => MICROPHONE_ERRORS.has(code));
    if (isChanged) this.#chosen.microphoneId = deviceId;
  }

  /** Where that loudspeaker cannot be had, the one before stays. */
  async useLoudspeaker(deviceId: string): Promise<void> {
    const changing = this.#call?.sound.useLoudspeaker(deviceId);
    const isChanged = await this.#changed(changing, (code) => code === "soundFailed");
    if (isChanged) this.#chosen.loudspeakerId = deviceId;
  }

  /** From 0 to 1. */
  setVolume(volume: number): void {
    this.#chosen.volume = volume;
    this.#call?.setVolume(volume);
  }

  hangUp(): void {
    this.#call?.hangUp();
  }

  /** Shows what went wrong with a device, and takes away what this one has mended. */
  async #changed(
    changing: Promise<void> | undefined,
    isMended: (code: CallError["code"]) => boolean,
  ): Promise<boolean> {
    const call = this.#call;
    try {
      await changing;
      const { fault } = this.#talk;
      if (this.#call === call && fault !== undefined && isMended(fault.code)) {
        this.#set({ ...this.#talk, fault: undefined });
      }
      return true;
    } catch (error) {
      const unknown = new CallError("soundFailed", "This loudspeaker cannot be used.");
      const fault = error instanceof CallError ? error : unknown;
      if (this.#call === call) this.#set({ ...this.#talk, fault });
      return false;
    }
  }

  async #token(): Promise<string> {
    const given = Object.entries(this.variables).filter(([, value]) => value !== "");
    const variables = Object.fromEntries(given);
    const { origin } = location;
    const body = { agentId: this.#agentId, ttlSec: TOKEN_SEC, origin, variables };
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
