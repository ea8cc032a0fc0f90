import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { LRUCache } from "lru-cache";
import * as v from "valibot";
import { WebSocket } from "ws";
import { AwaitedEvents } from "../awaited-events.js";
import type { Utterance } from "../caller.js";
import { FRAME_MS, microphoneClock } from "../sound/microphone-clock.js";
import { PhoneEarpiece } from "./phone-earpiece.js";
import { type RingingCall, requestWebhook, signatureHeader } from "./phone-webhook.js";
import { encodeMuLaw } from "./telephone-audio.js";
import { encodeSpeech } from "./tone-code.js";

/**
 * With the time on the machine's monotonic clock. `audio` is reported only when the agent begins to sound after
 * silence, and `quiet` once it has been silent for QUIET_MS, with the time of its last sound.
 */
export type PhoneCallerEvent = { readonly atNs: bigint } & (
  | { readonly type: "audio" | "clear" | "quiet" }
  | { readonly type: "mark" | "markEchoed"; readonly name: string }
  /** A message that the vendor drops with a warning. */
  | { readonly type: "dropped"; readonly text: string }
  | { readonly type: "closed"; readonly code: number; readonly reason: string }
);

/** Longer than the pauses between an agent's sentences; a listener takes it for the end of the reply. */
export const QUIET_MS = 1_000;

/** Strict, as the vendor is: a message with an unknown field is dropped. */
const AgentMessage = v.variant("event", [
  v.strictObject({
    event: v.literal("media"),
    streamSid: v.string(),
    media: v.strictObject({ payload: v.pipe(v.string(), v.base64()) }),
  }),
  v.strictObject({
    event: v.literal("mark"),
    streamSid: v.string(),
    mark: v.strictObject({ name: v.string() }),
  }),
  v.strictObject({ event: v.literal("clear"), streamSid: v.string() }),
]);

const AgentText = v.pipe(v.string(), v.parseJson(), AgentMessage);
export type AgentMessage = v.InferOutput<typeof AgentMessage>;

/** Undefined for a message that the vendor would drop. */
export function parseAgentMessage(text: string): AgentMessage | undefined {
  const parsed = v.safeParse(AgentText, text);
  return parsed.success ? parsed.output : undefined;
}

export function describePhoneEvent(event: PhoneCallerEvent): string {
  if ("name" in event) return `${event.type} ${event.name}`;
  if ("code" in event) return `closed ${event.code} ${event.reason}`;
  return "text" in event ? `dropped ${event.text}` : event.type;
}

/** Possible faults of a vendor, or the telephone network. */
export interface PhoneFaults {
  readonly noStart?: boolean;
  /** The number of audio frames before the start. */
  readonly mediaBeforeStart?: number;
  /** One in this many frames is lost: its number is missing. */
  readonly sequenceGapEvery?: number;
  readonly marksNeverReturn?: boolean;
  /** Hanging up sends `stop` and leaves the socket open. */
  readonly stopWithoutClose?: boolean;
  /** Hanging up closes the socket without a `stop`. */
  readonly closeWithoutStop?: boolean;
}

export interface PhoneCallerOptions {
  /** Requested first; its document decides the stream's address and parameters. */
  readonly webhookUrl?: string;
  /** The stream's address without a webhook, or overriding it. */
  readonly streamUrl?: string;
  /** Added to those of the webhook's document, and overriding them. */
  readonly parameters?: Readonly<Record<string, string>>;
  readonly from?: string;
  readonly to?: string;
  readonly callSid?: string;
  /** The token that signs both requests. */
  readonly authToken?: string;
  /** Additional fields of the first webhook; later requests do not have them. */
  readonly fields?: Readonly<Record<string, string>>;
  /** False saves memory in load tests: `said` and `playedText` are empty then. */
  readonly keepsAudio?: boolean;
  readonly faults?: PhoneFaults;
  /** Waits this many seconds, as a document may instruct the vendor; default: as long as it says. */
  readonly pause?: (lengthSec: number) => Promise<void>;
  /** Called for every piece of the agent's audio, in µ-law, for measurements. */
  readonly onAudio?: (bytes: Uint8Array, atNs: bigint) => void;
  readonly onEvent?: (event: PhoneCallerEvent) => void;
}

export const SAMPLE_RATE_HZ = 8000;
const FRAME_BYTES = (SAMPLE_RATE_HZ * FRAME_MS) / 1000;
const SILENCE = 0xff;
/** 20 ms of it, in base64. */
export const SILENT_FRAME = Buffer.alloc(FRAME_BYTES, SILENCE).toString("base64");
/** Callers of a load test repeat a few texts: some twenty minutes of speech. */
const SPEECH_FRAMES_MAX = 60_000;

const speechCache = new LRUCache<string, readonly string[]>({
  maxSize: SPEECH_FRAMES_MAX,
  sizeCalculation: (frames) => frames.length + 1,
});

/** A text in the tone code, as µ-law in whole frames of 20 ms, in base64. */
export function phoneFrames(text: string): readonly string[] {
  const known = speechCache.get(text);
  if (known !== undefined) return known;
  const spoken = encodeMuLaw(encodeSpeech(text, SAMPLE_RATE_HZ));
  const frames: string[] = [];
  for (let at = 0; at < spoken.length; at += FRAME_BYTES) {
    const frame = Buffer.alloc(FRAME_BYTES, SILENCE);
    frame.set(spoken.subarray(at, at + FRAME_BYTES));
    frames.push(frame.toString("base64"));
  }
  speechCache.set(text, frames);
  return frames;
}

/** A server sends a fraction of a second ahead of playback. */
const ECHO_FRAMES_MAX = 500;

/** A loudspeaker next to the microphone: the agent's audio returns to it while the caller is silent. */
export class SpeakerPhone {
  isOn = false;
  #frames: string[] = [];

  /** Takes a frame of the agent's audio, in base64. */
  play(frame: string): void {
    if (this.isOn && this.#frames.length < ECHO_FRAMES_MAX) this.#frames.push(frame);
  }

  /** The microphone's input in the next 20 ms. */
  next(): string | undefined {
    return this.#frames.shift();
  }

  clear(): void {
    this.#frames = [];
  }
}

/** A server that does not read loses audio, as a real call does, and this process's memory stays bounded. */
const UNSENT_BYTES_MAX = 1024 * 1024;

interface Speaking {
  readonly text: string;
  readonly frames: readonly string[];
  at: number;
  startNs: bigint;
  readonly resolve: (utterance: Utterance) => void;
  readonly reject: (error: Error) => void;
}

/** A caller on the telephone, through Twilio: uses its media-stream protocol, and in it the tone code. */
export class PhoneCaller {
  readonly speakerPhone = new SpeakerPhone();
  readonly streamSid = `MZ${randomBytes(16).toString("hex")}`;
  readonly callSid: string;
  readonly #socket: WebSocket;
  readonly #action: string | undefined;
  readonly #continue: (webhookUrl: string) => Promise<PhoneCaller>;
  readonly #faults: PhoneFaults;
  readonly #onAudio: PhoneCallerOptions["onAudio"];
  readonly #earpiece: PhoneEarpiece;
  readonly #events: AwaitedEvents<PhoneCallerEvent>;
  readonly #speaking: Speaking[] = [];
  #stopMicrophone: (() => void) | undefined;
  #isSounding = false;
  #sequence = 1;
  #chunk = 0;

  /** Rings, connects the stream, and talks from then on; rejects if the webhook or the upgrade refuses. */
  static async call(options: PhoneCallerOptions): Promise<PhoneCaller> {
    return PhoneCaller.#call(options, "ringing");
  }

  static async #call(options: PhoneCallerOptions, status: string): Promise<PhoneCaller> {
    const hex = randomBytes(16).toString("hex");
    const { from = "+15550001111", to = "+15550002222", authToken } = options;
    const call: RingingCall = {
      callSid: options.callSid ?? `CA${hex}`,
      accountSid: `AC${hex}`,
      from,
      to,
      authToken,
      fields: options.fields,
    };
    const twiml =
      options.webhookUrl === undefined
        ? undefined
        : await requestWebhook(options.webhookUrl, call, status, options.pause);
    const url = options.streamUrl ?? twiml?.url;
    if (url === undefined) throw new Error("a call needs a webhook or a stream");
    const socket = new WebSocket(url, {
      perMessageDeflate: false,
      headers: signatureHeader(url, {}, authToken),
      // A mask of zeros is legal, and spares hundreds of callers the masking of every frame.
      generateMask: (mask) => mask.fill(0),
    });
    const { callSid } = call;
    const goOn = (webhookUrl: string) =>
      PhoneCaller.#call({ ...options, fields: {}, webhookUrl, callSid }, "in-progress");
    const caller = new PhoneCaller(socket, callSid, options, twiml?.action, goOn);
    await once(socket, "open");
    caller.#start(call, { ...twiml?.parameters, ...options.parameters });
    return caller;
  }

  private constructor(
    socket: WebSocket,
    callSid: string,
    options: PhoneCallerOptions,
    action: string | undefined,
    goOn: (webhookUrl: string) => Promise<PhoneCaller>,
  ) {
    this.callSid = callSid;
    this.#action = action;
    this.#continue = goOn;
    this.#socket = socket;
    this.#faults = options.faults ?? {};
    this.#onAudio = options.onAudio;
    this.#earpiece = new PhoneEarpiece(options.keepsAudio ?? true);
    this.#events = new AwaitedEvents(describePhoneEvent, options.onEvent);
    socket.on("message", (data: Buffer) => this.#receive(data.toString("utf8")));
    // The close that follows reports it; before the socket is open, `call` rejects.
    socket.on("error", () => undefined);
    socket.on("close", (code, reason) => this.#closed(code, reason.toString("utf8")));
  }

  /** What the vendor requests when the stream has ended. */
  get action(): string | undefined {
    return this.#action;
  }

  get events(): readonly PhoneCallerEvent[] {
    return this.#events.all;
  }

  /** See AwaitedEvents.until. */
  until(
    predicate: (event: PhoneCallerEvent) => boolean,
    timeoutMs?: number,
  ): Promise<PhoneCallerEvent> {
    return this.#events.until(predicate, timeoutMs);
  }

  /** Speaks in real time after the current utterance; resolves when the last frame is sent. */
  say(text: string): Promise<Utterance> {
    return this.play(text, phoneFrames(text));
  }

  /** Any sound, as frames of 20 ms of µ-law in base64; if the socket is closing, the end rejects it. */
  play(text: string, frames: readonly string[]): Promise<Utterance> {
    return new Promise((resolve, reject) => {
      if (this.#socket.readyState === WebSocket.CLOSED) reject(new Error("the call is over"));
      else this.#speaking.push({ text, frames, at: 0, startNs: 0n, resolve, reject });
    });
  }

  /** Speaks now, instead of the current utterances, which are rejected. */
  interrupt(text: string): Promise<Utterance> {
    this.#stopTalking("interrupted by the caller's own words");
    return this.say(text);
  }

  /** Sends all of the words at once, like a network after a stall. */
  burst(text: string): void {
    for (const frame of phoneFrames(text)) this.#sendMedia(frame);
  }

  press(digit: string): void {
    this.#sendMessage(`"event":"dtmf"`, `"dtmf":{"track":"inbound_track","digit":"${digit}"}`);
  }

  /** Sends a raw frame. */
  send(data: string | Uint8Array): void {
    this.#socket.send(data);
  }

  /** All words that the agent sent, whether they were played or not. */
  said(): string {
    return this.#earpiece.said();
  }

  /** The whole words that the caller has heard until now. */
  playedText(): string {
    return this.#earpiece.playedText(Number(process.hrtime.bigint()));
  }

  /** Resolves when the socket is closed; with the fault `stopWithoutClose`, when the stop is sent. */
  async hangUp(): Promise<void> {
    if (this.#socket.readyState === WebSocket.CLOSED) return;
    const closed = once(this.#socket, "close");
    this.#stopMicrophone?.();
    if (this.#faults.closeWithoutStop !== true) {
      this.#sendMessage(`"event":"stop"`, `"stop":{"callSid":"${this.callSid}"}`);
    }
    if (this.#faults.stopWithoutClose === true) return;
    this.#socket.close(1000);
    await closed;
  }

  /**
   * The stream has ended and the caller has not hung up: the vendor requests the next step. Rejects if there is
   * none.
   */
  continue(): Promise<PhoneCaller> {
    if (this.#action === undefined) return Promise.reject(new Error("nothing comes after Connect"));
    return this.#continue(this.#action);
  }

  /** Breaks the connection without a close. */
  drop(): void {
    this.#socket.terminate();
  }

  #start(call: RingingCall, customParameters: Readonly<Record<string, string>>): void {
    this.send('{"event":"connected","protocol":"Call","version":"1.0.0"}');
    for (let n = 0; n < (this.#faults.mediaBeforeStart ?? 0); n += 1) this.#sendMedia(SILENT_FRAME);
    const start = {
      streamSid: this.streamSid,
      accountSid: call.accountSid,
      callSid: call.callSid,
      tracks: ["inbound"],
      mediaFormat: { encoding: "audio/x-mulaw", sampleRate: SAMPLE_RATE_HZ, channels: 1 },
      customParameters,
    };
    if (this.#faults.noStart !== true) {
      this.#sendMessage(`"event":"start"`, `"start":${JSON.stringify(start)}`);
    }
    this.#stopMicrophone = microphoneClock.add(() => this.#tick());
  }

  #tick(): void {
    const nowNs = process.hrtime.bigint();
    this.#echo(this.#earpiece.reached(Number(nowNs)), nowNs);
    this.#noteQuiet(Number(nowNs));
    const [speaking] = this.#speaking;
    const own = speaking?.frames[speaking.at] ?? this.speakerPhone.next();
    if (this.#socket.bufferedAmount <= UNSENT_BYTES_MAX) this.#sendMedia(own ?? SILENT_FRAME);
    if (speaking === undefined) return;
    if (speaking.at === 0) speaking.startNs = nowNs;
    speaking.at += 1;
    if (speaking.at < speaking.frames.length) return;
    this.#speaking.shift();
    speaking.resolve({ text: speaking.text, startNs: speaking.startNs, endNs: nowNs });
  }

  #noteQuiet(now: number): void {
    const { endNs } = this.#earpiece;
    if (!this.#isSounding || now < endNs + QUIET_MS * 1e6) return;
    this.#isSounding = false;
    this.#events.add({ type: "quiet", atNs: BigInt(Math.round(endNs)) });
  }

  #sendMedia(payload: string): void {
    this.#chunk += 1;
    const gap = this.#faults.sequenceGapEvery;
    if (gap !== undefined && this.#chunk % gap === 0) {
      this.#sequence += 1;
      return;
    }
    const place = `"track":"inbound","chunk":"${this.#chunk}","timestamp":"${this.#chunk * FRAME_MS}"`;
    this.#sendMessage(`"event":"media"`, `"media":{${place},"payload":"${payload}"}`);
  }

  #sendMessage(event: string, content: string): void {
    if (this.#socket.readyState !== WebSocket.OPEN) return;
    const ids = `"sequenceNumber":"${this.#sequence}","streamSid":"${this.streamSid}"`;
    this.#sequence += 1;
    this.#socket.send(`{${event},${ids},${content}}`);
  }

  #receive(text: string): void {
    const atNs = process.hrtime.bigint();
    const now = Number(atNs);
    const message = parseAgentMessage(text);
    if (message?.streamSid !== this.streamSid) {
      this.#events.add({ type: "dropped", text: text.slice(0, 200), atNs });
      return;
    }
    switch (message.event) {
      case "media": {
        const bytes = Buffer.from(message.media.payload, "base64");
        if (this.#earpiece.endNs <= now) this.#events.add({ type: "audio", atNs });
        this.#isSounding = true;
        this.#earpiece.play(bytes, now);
        this.speakerPhone.play(message.media.payload);
        this.#onAudio?.(bytes, atNs);
        return;
      }
      case "mark":
        this.#events.add({ type: "mark", name: message.mark.name, atNs });
        this.#earpiece.mark(message.mark.name, now);
        this.#echo(this.#earpiece.reached(now), atNs);
        return;
      case "clear":
        this.#events.add({ type: "clear", atNs });
        this.speakerPhone.clear();
        this.#echo(this.#earpiece.clear(now), atNs);
    }
  }

  #echo(names: readonly string[], atNs: bigint): void {
    if (this.#faults.marksNeverReturn === true) return;
    for (const name of names) {
      this.#sendMessage(`"event":"mark"`, `"mark":${JSON.stringify({ name })}`);
      this.#events.add({ type: "markEchoed", name, atNs });
    }
  }

  #closed(code: number, reason: string): void {
    this.#stopMicrophone?.();
    const atNs = process.hrtime.bigint();
    this.#earpiece.clear(Number(atNs));
    this.#stopTalking(`the call ended: ${code} ${reason}`);
    this.#events.add({ type: "closed", code, reason, atNs });
    this.#events.end();
  }

  #stopTalking(reason: string): void {
    for (const { reject } of this.#speaking.splice(0)) reject(new Error(reason));
  }
}
