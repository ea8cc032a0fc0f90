import {
  type ListenOptions,
  type SpeechListener,
  type SpeechStream,
  type SpeechToText,
  VendorError,
} from "../contracts.js";
import { openSocket, type VendorSocket } from "../transport/web-socket.js";
import { faultOfStatus, refusal } from "../vendor-fault.js";
import type { Endpoint, VendorContext } from "../vendor-settings.js";
import type { RecognizerDialect } from "./recognizer-dialect.js";
import { RecognizerStream } from "./recognizer-stream.js";

const OPEN_TIMEOUT_MS = 5_000;

export interface RecognizerAccess {
  readonly context: VendorContext;
  readonly endpoint: Endpoint;
  readonly clientOwned: boolean;
  readonly apiKey: string;
  /** Carries the key. */
  readonly headers: Readonly<Record<string, string>>;
}

/** A vendor that hears over a WebSocket: opens one for a call, and others after it when it breaks. */
export class SocketRecognizer implements SpeechToText {
  readonly #dialect: RecognizerDialect;
  readonly #access: RecognizerAccess;

  constructor(dialect: RecognizerDialect, access: RecognizerAccess) {
    this.#dialect = dialect;
    this.#access = access;
  }

  async open(
    options: ListenOptions,
    listener: SpeechListener,
    signal: AbortSignal,
  ): Promise<SpeechStream> {
    const { vendor } = this.#dialect;
    const connect = (until: AbortSignal) => this.#connect(options, until);
    const socket = await connect(signal);
    if (signal.aborted) {
      socket.destroy();
      throw new VendorError(vendor, "aborted", `${vendor}: aborted`);
    }
    const { context, apiKey } = this.#access;
    const { clock } = context;
    const { format, endpointingMs } = options;
    const dialect = this.#dialect;
    const parts = { dialect, clock, format, endpointingMs, listener, apiKey, connect };
    return new RecognizerStream(parts, socket, signal);
  }

  #connect(options: ListenOptions, signal: AbortSignal): Promise<VendorSocket> {
    const { vendor } = this.#dialect;
    const { context, endpoint, clientOwned, headers, apiKey } = this.#access;
    const url = `${endpoint.origin}${endpoint.path}${this.#dialect.target(options)}`;
    return openSocket(
      {
        vendor,
        url,
        headers,
        dispatcher: context.connections.forSocket(url, clientOwned),
        clock: context.clock,
        openTimeoutMs: OPEN_TIMEOUT_MS,
        offersCompression: false,
        refuse: (answer) => {
          const detail = this.#dialect.refusalDetail(answer);
          const nowMs = context.clock.epochMs();
          const fault = faultOfStatus(answer.status);
          return refusal(vendor, fault, { ...answer, nowMs }, detail, apiKey);
        },
      },
      signal,
    );
  }
}
