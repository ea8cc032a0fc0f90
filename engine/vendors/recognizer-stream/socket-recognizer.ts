import {
  type ListenOptions,
  type SpeechListener,
  type SpeechStream,
  type SpeechToText,
  VendorError,
} from "../contracts.js";
import { openVendorSocket, type SocketAccess } from "../transport/socket-vendor.js";
import type { RecognizerDialect } from "./recognizer-dialect.js";
import { RecognizerStream } from "./recognizer-stream.js";

/** A vendor that hears over a WebSocket: opens one for a call, and others after it when it breaks. */
export class SocketRecognizer implements SpeechToText {
  readonly #dialect: RecognizerDialect;
  readonly #access: SocketAccess;

  constructor(dialect: RecognizerDialect, access: SocketAccess) {
    this.#dialect = dialect;
    this.#access = access;
  }

  async open(
    options: ListenOptions,
    listener: SpeechListener,
    signal: AbortSignal,
  ): Promise<SpeechStream> {
    const dialect = this.#dialect;
    const { vendor } = dialect;
    const target = dialect.target(options);
    const connect = (until: AbortSignal) => openVendorSocket(dialect, this.#access, target, until);
    const socket = await connect(signal);
    if (signal.aborted) {
      socket.destroy();
      throw new VendorError(vendor, "aborted", `${vendor}: aborted`);
    }
    const { context, apiKey } = this.#access;
    const { clock } = context;
    const { format, endpointingMs } = options;
    const parts = { dialect, clock, format, endpointingMs, listener, apiKey, connect };
    return new RecognizerStream(parts, socket, signal);
  }
}
