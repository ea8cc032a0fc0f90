import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { inTime } from "./in-time.js";

const HANDSHAKE_BYTES = 1_536;
/** Larger than any message that the tests send. */
const CHUNK_BYTES = 4 * 1024 * 1024;
const SET_CHUNK_SIZE = 1;
const AUDIO = 8;
const VIDEO = 9;
const DATA_AMF0 = 18;
const USER_CONTROL = 4;
const PONG = Buffer.from([0, 7, 0, 0, 0, 0]);
/** The ingest sends a ping every 15 s. */
const TAGS_A_PONG = 100;
const COMMAND_AMF0 = 20;

type Value = string | number | null | Readonly<Record<string, string | number>>;

/**
 * A broadcaster inside the test process: publishes within milliseconds, sends the given tags, and leaves at any moment.
 */
export class RtmpClient {
  readonly #socket: Socket;
  readonly #closed: Promise<unknown>;
  #received = Buffer.alloc(0);
  #awaited: (() => void) | undefined;
  #tags = 0;

  /** Resolves when the server has accepted the publication. */
  static async publish(port: number, streamKey: string): Promise<RtmpClient> {
    const client = await RtmpClient.ask(port, streamKey);
    await client.#until("NetStream.Publish.Start");
    return client;
  }

  /** Resolves when the publish command has been sent, without waiting for the response. */
  static async ask(port: number, streamKey: string): Promise<RtmpClient> {
    const client = new RtmpClient(connect(port, "127.0.0.1"));
    await once(client.#socket, "connect");
    await client.#shakeHands();
    client.#send(SET_CHUNK_SIZE, 0, uint32(CHUNK_BYTES));
    const tcUrl = `rtmp://127.0.0.1:${port}/live`;
    client.#command(0, "connect", 1, { app: "live", type: "nonprivate", tcUrl });
    await client.#until("NetConnection.Connect.Success");
    client.#command(0, "createStream", 2, null);
    client.#command(1, "publish", 3, null, streamKey, "live");
    return client;
  }

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.on("error", () => undefined);
    this.#closed = new Promise((resolve) => socket.once("close", resolve));
    socket.on("data", (chunk) => {
      this.#received = Buffer.concat([this.#received, chunk]).subarray(-64_000);
      this.#awaited?.();
    });
    socket.on("close", () => this.#awaited?.());
  }

  /** `onMetaData`, which a broadcasting program sends first. */
  describe(properties: Readonly<Record<string, number>>): void {
    const body = [amf("@setDataFrame"), amf("onMetaData"), amf(properties)];
    this.#send(DATA_AMF0, 1, Buffer.concat(body));
  }

  video(...bytes: readonly number[]): void {
    this.#send(VIDEO, 1, Buffer.from(bytes));
  }

  audio(...bytes: readonly number[]): void {
    this.#send(AUDIO, 1, Buffer.from(bytes));
  }

  /** Sends one tag of an FLV file: its type is also the message's type. */
  tag(type: number, timestampMs: number, body: Buffer): void {
    this.#send(type, 1, body, timestampMs);
    this.#tags += 1;
    if (this.#tags % TAGS_A_PONG === 0) this.#send(USER_CONTROL, 0, PONG);
  }

  /** Disconnects without a message. */
  async leave(): Promise<void> {
    this.#socket.destroy();
    await this.#closed;
  }

  /** Resolves when the server has refused the publication because the key is in use. */
  async untilRefused(): Promise<void> {
    await this.#until("NetStream.Publish.BadName");
  }

  async #shakeHands(): Promise<void> {
    this.#socket.write(Buffer.concat([Buffer.from([3]), Buffer.alloc(HANDSHAKE_BYTES, 1)]));
    await this.#untilBytes(1 + 2 * HANDSHAKE_BYTES);
    this.#socket.write(this.#received.subarray(1, 1 + HANDSHAKE_BYTES));
    this.#received = this.#received.subarray(1 + 2 * HANDSHAKE_BYTES);
  }

  #command(streamId: number, name: string, transaction: number, ...values: Value[]): void {
    const body = [amf(name), amf(transaction), ...values.map(amf)];
    this.#send(COMMAND_AMF0, streamId, Buffer.concat(body));
  }

  /** Sends each message in one chunk: no message here is longer. */
  #send(type: number, streamId: number, body: Buffer, timestampMs = 0): void {
    const header = Buffer.alloc(12);
    header[0] = type === SET_CHUNK_SIZE || type === USER_CONTROL ? 2 : 3;
    if (timestampMs >= 0xff_ff_ff) throw new Error("longer than any test");
    header.writeUIntBE(timestampMs, 1, 3);
    header.writeUIntBE(body.length, 4, 3);
    header[7] = type;
    header.writeUInt32LE(streamId, 8);
    this.#socket.write(Buffer.concat([header, body]));
  }

  #untilBytes(count: number): Promise<void> {
    return this.#untilReceived(() => this.#received.length >= count, `${count} bytes`);
  }

  #until(code: string): Promise<void> {
    return this.#untilReceived(() => this.#received.includes(code), code);
  }

  async #untilReceived(isThere: () => boolean, what: string): Promise<void> {
    while (!isThere()) {
      if (this.#socket.destroyed) throw new Error(`the connection was closed before ${what}`);
      const more = new Promise<void>((resolve) => {
        this.#awaited = resolve;
      });
      await inTime(more, what);
    }
  }
}

function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}

function named(text: string): Buffer {
  const length = Buffer.alloc(2);
  length.writeUInt16BE(text.length);
  return Buffer.concat([length, Buffer.from(text)]);
}

/** AMF0: numbers, strings, null and objects. */
function amf(value: Value): Buffer {
  if (value === null) return Buffer.from([5]);
  if (typeof value === "string") return Buffer.concat([Buffer.from([2]), named(value)]);
  if (typeof value === "number") {
    const bytes = Buffer.alloc(9);
    bytes.writeDoubleBE(value, 1);
    return bytes;
  }
  const fields = Object.entries(value).flatMap(([name, field]) => [named(name), amf(field)]);
  return Buffer.concat([Buffer.from([3]), ...fields, Buffer.from([0, 0, 9])]);
}
