import { once } from "node:events";
import { WebSocket } from "ws";
import { AwaitedEvents } from "../../engine/sandbox/awaited-events.js";
import type { Utterance } from "../../engine/sandbox/caller.js";
import { FRAME_MS, microphoneClock } from "../../engine/sandbox/sound/microphone-clock.js";
import { MULAW_8K, type RawFormat } from "../../engine/sandbox/sound/raw-audio.js";
import { PhoneEarpiece } from "../../engine/sandbox/telephone/phone-earpiece.js";
import { bytesOf, decodeMuLaw, samplesOf } from "../../engine/sandbox/telephone/telephone-audio.js";
import { VENDOR_DOCUMENTS } from "../../test/system/phone-vendor-documents.js";
import { USUAL_STREAMS, type VendorStream } from "../../test/system/phone-vendor-streams.js";
import type { Happening, Talker } from "../load/conversation.js";
import type { Phrase } from "../load/phrases.js";

const PCM_8K: RawFormat = { sampleRateHz: 8_000, bytesPerSample: 2, silence: 0, samplesOf };
/** A server that does not read loses audio, as a real call does. */
const UNSENT_BYTES_MAX = 1024 * 1024;

interface Speaking {
  readonly phrase: Phrase;
  readonly audio: Buffer;
  at: number;
  startNs: bigint;
  readonly resolve: (utterance: Utterance) => void;
  readonly reject: (error: Error) => void;
}

/** A person on the telephone at any vendor: what they say is sent in real time, and what they hear is played in it. */
export class VendorTalker implements Talker {
  readonly group: number;
  readonly #socket: WebSocket;
  readonly #stream: VendorStream;
  readonly #format: RawFormat;
  readonly #frameBytes: number;
  readonly #silence: Buffer;
  readonly #earpiece: PhoneEarpiece;
  readonly #events = new AwaitedEvents<Happening>(({ type }) => type);
  readonly #speaking: Speaking[] = [];
  readonly #stopMicrophone: () => void;
  #chunk = 0;

  /** Asks the webhook as the vendor does, and opens the stream that the document orders. `number`: the caller's. */
  static async call(
    {
      url,
      apiKey,
      agentId,
    }: { readonly url: string; readonly apiKey: string; readonly agentId: string },
    {
      vendor,
      number,
      group,
    }: { readonly vendor: string; readonly number: string; readonly group: number },
  ): Promise<VendorTalker> {
    const stream = USUAL_STREAMS[vendor];
    const documents = VENDOR_DOCUMENTS[vendor];
    const body = documents?.bodyOf("ringing", number);
    if (stream === undefined || documents === undefined || body === undefined)
      throw new RangeError(`nothing is known of ${vendor}`);
    const query = new URLSearchParams({
      api_key: apiKey,
      agent_id: agentId,
      vendor,
      continue: "yes",
    });
    const type = body.startsWith("{") ? "application/json" : "application/x-www-form-urlencoded";
    const answer = await fetch(`${url}/api/telephony/voice?${query.toString()}`, {
      method: "POST",
      headers: { "content-type": type },
      body,
    });
    const document = await answer.text();
    if (!answer.ok) throw new Error(`${vendor}: ${answer.status} ${document}`);
    const step = documents.read(document);
    if (step === undefined) throw new Error(`${vendor}: the call is refused: ${document}`);
    const configured = `${url.replace(/^http/, "ws")}/ws/telephony/stream/${vendor}`;
    // A mask of zeros is legal, and spares hundreds of callers the masking of every frame.
    const socket = new WebSocket(step.url ?? configured, {
      perMessageDeflate: false,
      generateMask: (mask) => mask.fill(0),
    });
    await once(socket, "open");
    socket.send(stream.start(step.parameters["token"] ?? ""));
    return new VendorTalker(socket, stream, group);
  }

  private constructor(socket: WebSocket, stream: VendorStream, group: number) {
    this.group = group;
    this.#socket = socket;
    this.#stream = stream;
    this.#format = stream.codec === "mulaw" ? MULAW_8K : PCM_8K;
    const { sampleRateHz, bytesPerSample, silence } = this.#format;
    this.#frameBytes = (sampleRateHz * bytesPerSample * FRAME_MS) / 1_000;
    this.#silence = Buffer.alloc(this.#frameBytes, silence);
    this.#earpiece = new PhoneEarpiece(false, this.#format);
    socket.on("message", (data: Buffer, isBinary) => this.#receive(data, isBinary));
    socket.on("error", () => undefined);
    socket.on("close", () => this.#closed());
    this.#stopMicrophone = microphoneClock.add(() => this.#tick());
  }

  get events(): readonly Happening[] {
    return this.#events.all;
  }

  until(predicate: (happening: Happening) => boolean, timeoutMs: number): Promise<Happening> {
    return this.#events.until(predicate, timeoutMs);
  }

  say(phrase: Phrase): Promise<Utterance> {
    return new Promise((resolve, reject) => {
      if (this.#socket.readyState !== WebSocket.OPEN) reject(new Error("the call is over"));
      const audio =
        this.#format === MULAW_8K ? phrase.audio : Buffer.from(bytesOf(decodeMuLaw(phrase.audio)));
      this.#speaking.push({ phrase, audio, at: 0, startNs: 0n, resolve, reject });
    });
  }

  async hangUp(): Promise<void> {
    if (this.#socket.readyState === WebSocket.CLOSED) return;
    const closed = once(this.#socket, "close");
    this.#stopMicrophone();
    if (this.#stream.stop !== undefined) this.#socket.send(this.#stream.stop);
    this.#socket.close(1000);
    await closed;
  }

  #tick(): void {
    const nowNs = process.hrtime.bigint();
    this.#report(this.#earpiece.reached(Number(nowNs)));
    const [speaking] = this.#speaking;
    const end = (speaking?.at ?? 0) + this.#frameBytes;
    const frame = speaking?.audio.subarray(speaking.at, end) ?? this.#silence;
    this.#chunk += 1;
    if (
      this.#socket.readyState === WebSocket.OPEN &&
      this.#socket.bufferedAmount <= UNSENT_BYTES_MAX
    )
      this.#socket.send(this.#stream.media(frame, this.#chunk));
    if (speaking === undefined) return;
    if (speaking.at === 0) speaking.startNs = nowNs;
    speaking.at = end;
    if (end < speaking.audio.length) return;
    this.#speaking.shift();
    const { phrase, startNs, resolve } = speaking;
    resolve({ text: phrase.text, startNs, endNs: nowNs });
  }

  #receive(data: Buffer, isBinary: boolean): void {
    const atNs = process.hrtime.bigint();
    const now = Number(atNs);
    const { audio, mark, isClear } = this.#stream.read(data, isBinary);
    if (audio !== undefined) {
      if (this.#earpiece.endNs <= now) this.#events.add({ type: "audio", atNs });
      this.#earpiece.play(audio, now);
    } else if (mark !== undefined) {
      this.#earpiece.mark(mark, now);
      this.#report(this.#earpiece.reached(now));
    } else if (isClear === true) {
      this.#events.add({ type: "clear", atNs });
      this.#report(this.#earpiece.clear(now));
    }
  }

  #report(marks: readonly string[]): void {
    if (this.#socket.readyState !== WebSocket.OPEN) return;
    for (const mark of marks) this.#socket.send(this.#stream.played(mark));
  }

  #closed(): void {
    this.#stopMicrophone();
    for (const { reject } of this.#speaking.splice(0)) reject(new Error("the call ended"));
    this.#events.end();
  }
}
