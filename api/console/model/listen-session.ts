import { answered, api } from "./api.js";
import { SERVER_URL } from "./server-address.js";

/** What a network and a browser may be late with. */
const LEAD_SEC = 0.25;
const CHANNELS = 2;
const MULAW_BIAS = 33;
const FULL_SCALE = 8_192;

/** `over`: the call has ended, or the stream was closed; `failed`: it could not be opened. */
export type ListenState = "opening" | "playing" | "over" | "failed";

/** Plays the sound of a call in progress until it is stopped: the caller left, the agent right. */
export class ListenSession {
  readonly #context = new AudioContext({ latencyHint: "interactive" });
  readonly #onState: (state: ListenState) => void;
  #socket: WebSocket | undefined;
  #rateHz = 0;
  #endsAtSec = 0;
  #isStopped = false;

  constructor(callId: string, onState: (state: ListenState) => void) {
    this.#onState = onState;
    onState("opening");
    this.#open(callId).catch(() => this.#end("failed"));
  }

  stop(): void {
    this.#end("over");
  }

  async #open(id: string): Promise<void> {
    const { path } = await answered(
      api.POST("/api/dashboard/calls/{id}/listen", { params: { path: { id } } }),
    );
    if (this.#isStopped) return;
    const socket = new WebSocket(`${SERVER_URL.replace(/^http/, "ws")}${path}`);
    this.#socket = socket;
    socket.binaryType = "arraybuffer";
    socket.addEventListener("message", ({ data }: MessageEvent<unknown>) => this.#take(data));
    socket.addEventListener("close", () => this.#end("over"));
  }

  #take(data: unknown): void {
    if (typeof data === "string") {
      this.#rateHz = Number(Object(JSON.parse(data)).sampleRateHz);
      this.#onState("playing");
    } else if (data instanceof ArrayBuffer && this.#rateHz > 0) this.#play(new Uint8Array(data));
  }

  #play(codes: Uint8Array): void {
    const length = codes.length / CHANNELS;
    if (length < 1) return;
    const sound = this.#context.createBuffer(CHANNELS, length, this.#rateHz);
    for (let channel = 0; channel < CHANNELS; channel += 1) {
      const samples = sound.getChannelData(channel);
      for (let index = 0; index < length; index += 1) {
        samples[index] = mulawSample(codes[index * CHANNELS + channel] ?? 0xff);
      }
    }
    const source = this.#context.createBufferSource();
    source.buffer = sound;
    source.connect(this.#context.destination);
    const nowSec = this.#context.currentTime;
    const atSec = this.#endsAtSec < nowSec ? nowSec + LEAD_SEC : this.#endsAtSec;
    source.start(atSec);
    this.#endsAtSec = atSec + sound.duration;
  }

  #end(state: ListenState): void {
    if (this.#isStopped) return;
    this.#isStopped = true;
    this.#socket?.close();
    void this.#context.close();
    this.#onState(state);
  }
}

/** One sample of G.711 µ-law, from -1 to 1. */
function mulawSample(code: number): number {
  const bits = ~code & 0xff;
  const magnitude = (((bits & 0x0f) << 1) + MULAW_BIAS) << ((bits >> 4) & 0x07);
  const sample = (magnitude - MULAW_BIAS) / FULL_SCALE;
  return (bits & 0x80) === 0 ? sample : -sample;
}
