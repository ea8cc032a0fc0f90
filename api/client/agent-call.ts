import { Announcer } from "./announcer.js";
import { type CallTarget, type Credential, callAddress, requireAddress } from "./call-address.js";
import { asCallError, CallError } from "./call-error.js";
import type { CallEvents, CallState, Connected } from "./call-events.js";
import { CallConnection, type CallSocketClass, NOT_OPENED } from "./call-socket.js";
import { type CancelTimer, type ClientClock, chance, defaultClock } from "./client-clock.js";
import { Dialogue } from "./dialogue.js";
import { LevelMeter, levelOf, rmsOf, VoiceSense } from "./loudness.js";
import { PageTools, type ToolHandler } from "./page-tools.js";
import { type ServerMessage, serverMessage } from "./server-message.js";
import type { Sound } from "./sound.js";

/** How a page proves that it may call. */
export interface CredentialSource {
  /** A client token, or a function that returns one; it is called again for every new connection. */
  readonly token?: string | (() => string | Promise<string>) | undefined;
  /** Never put it into a page: every visitor could read it. */
  readonly apiKey?: string | undefined;
}

/** A page's own function may never answer. */
const TOKEN_MAX_MS = 15_000;
export const NO_TOKEN = "This page could not get a token for the call. Try again.";
export const TOKEN_ENDED =
  "The connection was lost, and the call's token has expired. Start a new call.";

/** Rejects if the page's function does, or takes too long. */
export async function credentialFrom(
  { token, apiKey }: CredentialSource,
  clock: ClientClock,
): Promise<Credential> {
  if (typeof token !== "function") return { apiKey, token };
  let cancel = () => {};
  const late = new Promise<never>((_, reject) => {
    cancel = clock.after(TOKEN_MAX_MS, () => reject(new Error("no token arrived in time")));
  });
  try {
    return { apiKey, token: await Promise.race([token(), late]) };
  } finally {
    cancel();
  }
}

/** How long a broken connection is retried: the caller is still waiting. */
export const RECONNECT_MAX_MS = 30_000;
const FIRST_DELAY_MS = 250;
const DELAY_MAX_MS = 4_000;
/**
 * A connection that breaks sooner counts as another attempt: otherwise one that breaks immediately would be
 * retried forever.
 */
const LASTING_MS = 5_000;
/** Connection lost, server error, restart, or overload; see docs/reference/protocol.md. */
const WORTH_ANOTHER_TRY: ReadonlySet<number> = new Set([1005, 1006, 1011, 1012, 1013]);
/** The server still counts the lost call as active. */
const FULL = 4029;

/** When to retry, and when to give up. */
export class Reconnection {
  readonly #clock: ClientClock;
  readonly #chance: () => number;
  #beganAtMs: number | undefined;
  #succeededAtMs: number | undefined;
  #tries = 0;
  #cancel: CancelTimer | undefined;

  constructor(clock: ClientClock, chance: () => number) {
    this.#clock = clock;
    this.#chance = chance;
  }

  get isOn(): boolean {
    return this.#beganAtMs !== undefined && this.#succeededAtMs === undefined;
  }

  /** The delay after a connection has closed with this code; undefined if a retry would not help, or it is too late. */
  delayMs(code: number): number | undefined {
    if (!WORTH_ANOTHER_TRY.has(code) && !(this.isOn && code === FULL)) return undefined;
    const nowMs = this.#clock.monotonicMs();
    if (nowMs - (this.#succeededAtMs ?? nowMs) >= LASTING_MS) this.#forget();
    this.#succeededAtMs = undefined;
    this.#beganAtMs ??= nowMs;
    // Half of the delay is random, so that a restarted server does not get all reconnects at once.
    const longestMs = Math.min(DELAY_MAX_MS, FIRST_DELAY_MS * 2 ** this.#tries);
    const delayMs = longestMs * (0.5 + this.#chance() / 2);
    this.#tries += 1;
    return nowMs + delayMs - this.#beganAtMs > RECONNECT_MAX_MS ? undefined : delayMs;
  }

  retry(delayMs: number, action: () => void): void {
    this.#cancel?.();
    this.#cancel = this.#clock.after(delayMs, action);
  }

  succeeded(): void {
    this.stop();
    this.#succeededAtMs = this.#clock.monotonicMs();
  }

  stop(): void {
    this.#cancel?.();
  }

  #forget(): void {
    this.#beganAtMs = undefined;
    this.#tries = 0;
  }
}

export interface AgentCallOptions extends CallTarget, CredentialSource {
  /** A conversation to continue: the `historyKey` of an earlier call. */
  readonly sessionId?: string | undefined;
  /** Default: `pcm24k`; this client does not support `mulaw`. */
  readonly encoding?: "pcm24k" | "pcm16k" | undefined;
  readonly sound: Sound;
  /** Default: the environment's own, which Node has since version 22. */
  readonly WebSocket?: CallSocketClass | undefined;
  readonly clock?: ClientClock | undefined;
  readonly chance?: (() => number) | undefined;
}

const CONNECT_MAX_MS = 15_000;
const NORMAL_END = 1000;
const BROKEN = 1006;
/** The server's close code for an invalid token or key. */
export const NO_ENTRY = 4001;

/** A call with an agent, from `start` to its event `ended`. */
export class AgentCall {
  readonly #options: AgentCallOptions;
  readonly #sound: Sound;
  readonly #clock: ClientClock;
  readonly #events = new Announcer<CallEvents>();
  readonly #dialogue: Dialogue;
  readonly #voiceSense = new VoiceSense();
  readonly #reconnection: Reconnection;
  readonly #tools: PageTools;
  readonly #meter: LevelMeter;
  #connection: CallConnection | undefined;
  #cancelConnect: CancelTimer | undefined;
  #historyKey: string | undefined;
  #lastError = "";
  #lacksToken = false;
  /** The server restarts the count with each connection. */
  #turns: { server: number; own: number; playedMs: number } | undefined;
  #isMuted = false;

  constructor(options: AgentCallOptions) {
    this.#options = options;
    this.#sound = options.sound;
    this.#clock = options.clock ?? defaultClock;
    this.#dialogue = new Dialogue(this.#events, this.#clock);
    this.#reconnection = new Reconnection(this.#clock, options.chance ?? chance);
    this.#tools = new PageTools(
      this.#clock,
      (message) => void (this.#isConnected && this.#connection?.sendText(message)),
      (use) => this.#events.emit("tool", use),
    );
    this.#meter = new LevelMeter(this.#clock, (levels) => this.#events.emit("levels", levels));
  }

  get state(): CallState {
    return this.#dialogue.state;
  }

  /** Valid as `sessionId` of another call; undefined before `connected`. */
  get historyKey(): string | undefined {
    return this.#historyKey;
  }

  get isMuted(): boolean {
    return this.#isMuted;
  }

  /** Returns an unsubscribe function. */
  on<Name extends keyof CallEvents>(
    name: Name,
    listener: (event: CallEvents[Name]) => void,
  ): () => void {
    return this.#events.on(name, listener);
  }

  /**
   * Opens microphone and connection. Call it in a click handler. Rejects with the CallError that `fault` reports
   * too.
   */
  async start(): Promise<void> {
    if (this.state !== "idle") throw new CallError("protocol", "a call can be started only once");
    this.#dialogue.enter("connecting");
    try {
      requireAddress(this.#options);
      await this.#sound.open({
        frame: (samples) => this.#frame(samples),
        sounding: (turn) => this.#dialogue.turnSounds(turn),
        played: (turn, ms) => this.#played(turn, ms),
        agentLoudness: (rms) => this.#meter.note({ agent: levelOf(rms) }),
        microphone: (change) => this.#events.emit("microphone", change),
        fault: (fault) => this.#events.emit("fault", fault),
        mended: (code) => this.#events.emit("mended", code),
      });
    } catch (error) {
      // The caller hung up meanwhile: there is no call to recover.
      if (this.#dialogue.state === "ended") return;
      throw this.#failed(
        asCallError(error, "soundFailed", "the audio of this device cannot be used"),
      );
    }
    if (this.#dialogue.state === "connecting") await this.#connect();
  }

  setMuted(isMuted: boolean): void {
    this.#isMuted = isMuted;
    this.#sound.setMuted(isMuted);
  }

  /** From 0 to 1. */
  setVolume(volume: number): void {
    this.#sound.setVolume(Math.min(1, Math.max(0, volume)));
  }

  /**
   * Sends written words instead of speech: the agent stops and answers them. At most 1,000 characters. False while
   * there is no connection: nothing was sent.
   */
  write(text: string): boolean {
    const words = text.trim();
    if (words === "" || !this.#isConnected) return false;
    this.#connection?.sendText(JSON.stringify({ type: "written", text: words }));
    return true;
  }

  /**
   * Registers a handler for the agent's tool of this name, of the type `client`. Returns a function that removes
   * it. Throws a CallError for an invalid tool name.
   */
  tool(name: string, handler: ToolHandler): () => void {
    return this.#tools.offer(name, handler);
  }

  hangUp(): void {
    this.#end(NORMAL_END, "you hung up");
  }

  /** The system reports that the network is gone: reconnects immediately. */
  networkLost(): void {
    this.#connection?.breakOff();
  }

  get #isConnected(): boolean {
    return ["listening", "thinking", "speaking"].includes(this.state);
  }

  /** Rejects with the CallError, which was reported already, if a retry would not help. */
  async #connect(): Promise<void> {
    let credential: Credential;
    try {
      credential = await credentialFrom(this.#options, this.#clock);
    } catch (error) {
      if (this.state === "ended") return;
      this.#lacksToken = true;
      this.#events.emit("fault", asCallError(error, "tokenFailed", NO_TOKEN));
      return this.#onConnectionLost(BROKEN, NO_TOKEN);
    }
    if (this.state !== "connecting" && this.state !== "reconnecting") return;
    this.#lastError = "";
    try {
      const connection = this.#opened(credential);
      this.#connection = connection;
      this.#cancelConnect = this.#clock.after(CONNECT_MAX_MS, () => connection.breakOff());
    } catch (error) {
      throw this.#failed(asCallError(error, "protocol", NOT_OPENED));
    }
  }

  /** Throws if the address is invalid, or this page may not open it. */
  #opened(credential: Credential): CallConnection {
    const { WebSocket, encoding = "pcm24k", sessionId } = this.#options;
    const key = this.#historyKey ?? sessionId;
    const address = callAddress(this.#options, credential, encoding, key);
    const line = { WebSocket, address, clock: this.#clock };
    const connection: CallConnection = new CallConnection(line, {
      text: (message) => this.#take(serverMessage(message), connection),
      audio: (bytes) => this.#sound.play(new Int16Array(bytes)),
      closed: (code, reason) => {
        if (this.#connection === connection) this.#onConnectionLost(code, reason);
      },
    });
    return connection;
  }

  /** Reports the fault, and with it the end of the call. */
  #failed(fault: CallError): CallError {
    this.#events.emit("fault", fault);
    this.#end(NORMAL_END, fault.message);
    return fault;
  }

  #take(message: ServerMessage | undefined, connection: CallConnection): void {
    switch (message?.type) {
      case "connected":
        return this.#connected(message);
      case "transcript":
        if (message.role === "user") this.#dialogue.callerWords(message.text, message.isFinal);
        else this.#dialogue.agentWords(message.text, message.isFinal);
        return;
      case "audioStart": {
        const own = this.#dialogue.turnBegun();
        this.#turns = { server: message.turnId, own, playedMs: 0 };
        return this.#sound.startTurn(own, message.sampleRateHz);
      }
      case "audioStop":
        this.#sound.stop();
        return this.#dialogue.turnInterrupted();
      case "audioEnd":
        this.#sound.finish();
        return this.#dialogue.turnFinished();
      case "error":
        this.#lastError = message.message;
        this.#events.emit(
          "fault",
          new CallError("server", message.message, { serverCode: message.code }),
        );
        return;
      case "toolCall":
        return void this.#tools.use(message, (result) => connection.sendText(result));
      case undefined:
        return;
    }
  }

  #connected({ agentName, historyKey, callId }: Omit<Connected, "isAgain">): void {
    this.#cancelConnect?.();
    const isAgain = this.#reconnection.isOn;
    this.#reconnection.succeeded();
    this.#historyKey = historyKey;
    this.#dialogue.enter("listening");
    this.#tools.connected();
    this.#events.emit("connected", { agentName, historyKey, callId, isAgain });
    if (!isAgain) return;
    this.#events.emit("mended", "connectionLost");
    // While the network was unavailable, no token could be fetched either.
    if (this.#lacksToken) this.#events.emit("mended", "tokenFailed");
    this.#lacksToken = false;
  }

  #onConnectionLost(code: number, reason: string): void {
    this.#cancelConnect?.();
    this.#connection = undefined;
    if (this.state === "ended") return;
    this.#sound.stop();
    this.#dialogue.brokenOff();
    const delayMs = this.#historyKey === undefined ? undefined : this.#reconnection.delayMs(code);
    if (delayMs === undefined) return this.#endAfterRetries(code, reason);
    if (this.state !== "reconnecting") {
      this.#dialogue.enter("reconnecting");
      this.#events.emit("fault", new CallError("connectionLost", "the connection was lost"));
    }
    // A rejection was already reported as a fault.
    this.#reconnection.retry(delayMs, () => void this.#connect().catch(() => {}));
  }

  #endAfterRetries(code: number, reason: string): void {
    const words = reason || this.#lastError;
    if (code === BROKEN || code === 1005) {
      // The missing token was already reported.
      if (reason === NO_TOKEN) return this.#end(code, words);
      this.#events.emit("fault", new CallError("cannotConnect", "the server cannot be reached"));
    } else if (code === NO_ENTRY && this.state === "reconnecting") {
      this.#events.emit("fault", new CallError("tokenEnded", TOKEN_ENDED));
    } else if (code !== NORMAL_END && this.#lastError === "") {
      this.#events.emit("fault", new CallError("refused", words || `closed with ${code}`));
    }
    this.#end(code, words);
  }

  #end(code: number, reason: string): void {
    if (this.state === "ended") return;
    this.#cancelConnect?.();
    this.#reconnection.stop();
    this.#sound.stop();
    this.#dialogue.brokenOff();
    this.#dialogue.enter("ended");
    const connection = this.#connection;
    this.#connection = undefined;
    connection?.close();
    this.#sound.close();
    this.#events.emit("ended", { code, reason });
  }

  #frame(samples: Int16Array<ArrayBuffer>): void {
    const rms = rmsOf(samples);
    if (this.#voiceSense.isVoice(rms)) this.#dialogue.voiceHeard();
    this.#meter.note({ caller: levelOf(rms) });
    this.#connection?.sendAudio(samples);
  }

  #played(turn: number, ms: number): void {
    // Progress reports can arrive out of order when the output latency decreases, as after a change of the loudspeaker.
    if (this.#turns?.own !== turn || ms < this.#turns.playedMs) return;
    this.#turns.playedMs = ms;
    this.#connection?.sendText(JSON.stringify({ type: "played", turnId: this.#turns.server, ms }));
  }
}
