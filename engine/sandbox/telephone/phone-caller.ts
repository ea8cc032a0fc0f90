import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { WebSocket } from "ws";
import { AwaitedEvents } from "../awaited-events.js";
import type { Utterance } from "../caller.js";
import { FRAME_MS, microphoneClock } from "../sound/microphone-clock.js";
import {
  describePhoneEvent,
  type PhoneCallerEvent,
  parseAgentMessage,
  QUIET_MS,
} from "./phone-caller-events.js";
import type { PhoneCallerOptions, PhoneFaults } from "./phone-caller-options.js";
import { PhoneEarpiece } from "./phone-earpiece.js";
import { phoneFrames, SAMPLE_RATE_HZ, SILENT_FRAME } from "./phone-speech.js";
import { askWebhook, type RingingCall, signatureHeader } from "./phone-webhook.js";
import { SpeakerPhone } from "./speaker-phone.js";

/** A server that does not read loses audio, as a real call does, and this process keeps its memory. */
const UNSENT_BYTES_MAX = 1024 * 1024;

interface Speaking {
  readonly text: string;
  readonly frames: readonly string[];
  at: number;
  startNs: bigint;
  readonly resolve: (utterance: Utterance) => void;
  readonly reject: (error: Error) => void;
}

/** A caller on the telephone, with Twilio in between: speaks its media-stream protocol, and in it the tone code. */
export class PhoneCaller {
  readonly speakerPhone = new SpeakerPhone();
  readonly streamSid = `MZ${randomBytes(16).toString("hex")}`;
  readonly callSid: string;
  readonly #socket: WebSocket;
  readonly #action: string | undefined;
  readonly #goOn: (webhookUrl: string) => Promise<PhoneCaller>;
  readonly #faults: PhoneFaults;
  readonly #onAudio: PhoneCallerOptions["onAudio"];
  readonly #earpiece: PhoneEarpiece;
  readonly #events: AwaitedEvents<PhoneCallerEvent>;
  readonly #speaking: Speaking[] = [];
  #stopMicrophone: (() => void) | undefined;
  #isSounding = false;
  #sequence = 1;
  #chunk = 0;

  /** Rings, connects the stream, and talks from then on; rejects when the webhook or the upgrade refuses. */
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
    const told =
      options.webhookUrl === undefined
        ? undefined
        : await askWebhook(options.webhookUrl, call, status, options.pause);
    const url = options.streamUrl ?? told?.url;
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
    const caller = new PhoneCaller(socket, callSid, options, told?.action, goOn);
    await once(socket, "open");
    caller.#begin(call, { ...told?.parameters, ...options.parameters });
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
    this.#goOn = goOn;
    this.#socket = socket;
    this.#faults = options.faults ?? {};
    this.#onAudio = options.onAudio;
    this.#earpiece = new PhoneEarpiece(options.keepsAudio ?? true);
    this.#events = new AwaitedEvents(describePhoneEvent, options.onEvent);
    socket.on("message", (data: Buffer) => this.#receive(data.toString("utf8")));
    // The close that follows tells it; before the socket is open, `call` rejects.
    socket.on("error", () => undefined);
    socket.on("close", (code, reason) => this.#closed(code, reason.toString("utf8")));
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

  /** Speaks in real time after what is being said; resolves when the last frame is sent. */
  say(text: string): Promise<Utterance> {
    return this.play(text, phoneFrames(text));
  }

  /** Any sound, as frames of 20 ms of µ-law in base64; what a closing socket takes no more is told of its end. */
  play(text: string, frames: readonly string[]): Promise<Utterance> {
    return new Promise((resolve, reject) => {
      if (this.#socket.readyState === WebSocket.CLOSED) reject(new Error("the call is over"));
      else this.#speaking.push({ text, frames, at: 0, startNs: 0n, resolve, reject });
    });
  }

  /** Speaks now, instead of what it was saying: those are rejected. */
  interrupt(text: string): Promise<Utterance> {
    this.#stopTalking("interrupted by the caller's own words");
    return this.say(text);
  }

  /** Sends all of the words at once, as a network does that was stuck. */
  burst(text: string): void {
    for (const frame of phoneFrames(text)) this.#sendMedia(frame);
  }

  press(digit: string): void {
    this.#sendMessage(`"event":"dtmf"`, `"dtmf":{"track":"inbound_track","digit":"${digit}"}`);
  }

  /** A frame as it stands. */
  send(data: string | Uint8Array): void {
    this.#socket.send(data);
  }

  /** The words of all that the agent sent, whether they were played or not. */
  said(): string {
    return this.#earpiece.said();
  }

  /** The whole words that the caller has heard until now. */
  heard(): string {
    return this.#earpiece.heard(Number(process.hrtime.bigint()));
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

  /** The stream has ended and the caller has not hung up: the vendor asks what comes next. Rejects when that is nothing. */
  goOn(): Promise<PhoneCaller> {
    if (this.#action === undefined) return Promise.reject(new Error("nothing comes after Connect"));
    return this.#goOn(this.#action);
  }

  /** Breaks the connection without a word. */
  drop(): void {
    this.#socket.terminate();
  }

  #begin(call: RingingCall, customParameters: Readonly<Record<string, string>>): void {
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
