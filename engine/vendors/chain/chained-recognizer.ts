import {
  type ListenOptions,
  type SpeechListener,
  type SpeechStream,
  type SpeechToText,
  VendorError,
} from "../contracts.js";
import { asVendorError, type Chain, type ChainLink } from "./chain.js";
import { ChainedStream } from "./chained-stream.js";
import { Patience } from "./patience.js";

export type RecognizerLink = ChainLink<SpeechToText>;

/**
 * Recognizers one behind the other. Who does not take audio within `patienceMs` is left for the next, at the beginning of a call
 * and in the middle of it.
 */
export class ChainedRecognizer implements SpeechToText {
  readonly #chain: Chain<SpeechToText>;
  readonly #patienceMs: number;

  constructor(chain: Chain<SpeechToText>, patienceMs: number) {
    this.#chain = chain;
    this.#patienceMs = patienceMs;
  }

  /** Each vendor listens with the model of its own: that of the options counts for nothing. */
  async open(
    options: ListenOptions,
    listener: SpeechListener,
    signal: AbortSignal,
  ): Promise<SpeechStream> {
    const chain = this.#chain;
    if (chain.isSingle) return this.#openOnly(options, listener, signal);
    const stream = new ChainedStream({
      chain,
      format: options.format,
      listener,
      signal,
      open: (link, hears, until, isLast) =>
        opened(chain, link, { ...options, modelId: link.modelId }, hears, until, {
          limitMs: isLast ? undefined : this.#patienceMs,
        }),
    });
    await stream.begin();
    return stream;
  }

  /** Its reconnecting is its own, and nothing stands between it and the call. */
  async #openOnly(
    options: ListenOptions,
    listener: SpeechListener,
    signal: AbortSignal,
  ): Promise<SpeechStream> {
    const link = this.#chain.first;
    const given = { ...options, modelId: link.modelId };
    const stream = await opened(this.#chain, link, given, listener, signal, {
      limitMs: undefined,
    });
    this.#chain.answered(link);
    return stream;
  }
}

/** Opens one vendor's stream, or says why not and counts it. Rejects with a VendorError. */
async function opened(
  chain: Chain<SpeechToText>,
  link: RecognizerLink,
  options: ListenOptions,
  listener: SpeechListener,
  signal: AbortSignal,
  { limitMs }: { readonly limitMs: number | undefined },
): Promise<SpeechStream> {
  const patience = new Patience(chain.clock, limitMs, signal);
  const { vendor, client, breaker } = link;
  breaker.asked();
  try {
    return await client.open(options, listener, patience.signal);
  } catch (cause) {
    if (signal.aborted) breaker.abandoned();
    const error = patience.isOver
      ? new VendorError(vendor, "timeout", `${vendor}: not connected in time`, { cause })
      : asVendorError(vendor, cause);
    if (!signal.aborted) {
      chain.failed(link, error, { ms: Math.round(patience.passedMs), tokens: 0 });
    }
    throw error;
  } finally {
    patience.end();
  }
}
