import assert from "node:assert/strict";
import * as v from "valibot";
import { WebSocket } from "ws";
import { ListenFormat } from "../../api/contract/listen-protocol.js";
import { decodeMulaw } from "../../engine/audio/mulaw.js";
import { decodeSpeech } from "../../engine/sandbox/telephone/tone-code.js";
import { Changes } from "../doubles/changes.js";

const Address = v.object({ path: v.string(), expiresAt: v.string() });

export interface ListenerOptions {
  readonly url: string;
  readonly callId: string;
  /** The credentials of an API key, or of a user who has signed in. */
  readonly headers: Readonly<Record<string, string>>;
}

export function askToListen({ url, callId, headers }: ListenerOptions): Promise<Response> {
  const address = `${url}/api/dashboard/calls/${callId}/listen`;
  return fetch(address, { method: "POST", headers: { connection: "close", ...headers } });
}

/** A user who listens to a call. */
export class CallListener {
  readonly changes = new Changes();
  readonly #socket: WebSocket;
  readonly #left: number[] = [];
  readonly #right: number[] = [];
  #format: v.InferOutput<typeof ListenFormat> | undefined;
  closed: { readonly code: number; readonly reason: string } | undefined;

  static async open(options: ListenerOptions): Promise<CallListener> {
    const answer = await askToListen(options);
    assert.equal(answer.status, 201, await answer.clone().text());
    const { path } = v.parse(Address, await answer.json());
    return new CallListener(`${options.url.replace("http", "ws")}${path}`);
  }

  constructor(url: string) {
    this.#socket = new WebSocket(url, { perMessageDeflate: false });
    this.#socket.on("message", (data, isBinary) => {
      assert.ok(Buffer.isBuffer(data));
      if (isBinary) this.#hear(data);
      else this.#format = v.parse(ListenFormat, JSON.parse(data.toString()));
      this.changes.tell();
    });
    this.#socket.on("close", (code, reason) => {
      this.closed = { code, reason: reason.toString() };
      this.changes.tell();
    });
  }

  get rateHz(): number {
    return this.#format?.sampleRateHz ?? 0;
  }

  get durationMs(): number {
    return (this.#left.length * 1_000) / this.rateHz;
  }

  /** The caller's words that were heard. */
  get leftWords(): string {
    return decodeSpeech(Int16Array.from(this.#left), this.rateHz);
  }

  /** The agent's words that were heard. */
  get rightWords(): string {
    return decodeSpeech(Int16Array.from(this.#right), this.rateHz);
  }

  /** Whether the agent's channel had any audio since `fromMs`. */
  isRightSilentFrom(fromMs: number): boolean {
    const from = Math.round((fromMs * this.rateHz) / 1_000);
    return this.#right.slice(from).every((sample) => Math.abs(sample) < 16);
  }

  close(): void {
    this.#socket.close();
  }

  #hear(bytes: Buffer): void {
    assert.ok(this.#format, "the format comes first");
    for (const [index, sample] of decodeMulaw(bytes).entries()) {
      (index % 2 === 0 ? this.#left : this.#right).push(sample);
    }
  }
}
