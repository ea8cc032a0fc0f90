import { refuseOpenAi } from "../chat-completions/openai-refusal.js";
import type { EmbeddingModel, EmbeddingRequest } from "../contracts.js";
import { HttpVendor } from "../transport/http-vendor.js";
import {
  bearer,
  requireApiKey,
  type VendorContext,
  type VendorSettings,
} from "../vendor-settings.js";

/** Some 40 vectors of 3,072 dimensions. */
const ANSWER_BYTES_MAX = 4 * 1024 * 1024;

export interface EmbeddingsDialect {
  readonly vendor: string;
  readonly publicUrl: string;
  readonly isKeyRequired: boolean;
  /** Relative to the provider's address. */
  readonly path: string;
}

/** OpenAI's `POST /embeddings`, and compatible ones. */
export class Embeddings implements EmbeddingModel {
  readonly #vendor: HttpVendor;
  readonly #apiKey: string | undefined;
  readonly #path: string;

  constructor(dialect: EmbeddingsDialect, given: VendorSettings, context: VendorContext) {
    const { vendor, publicUrl, isKeyRequired, path } = dialect;
    this.#vendor = new HttpVendor(vendor, given, publicUrl, context);
    this.#apiKey = isKeyRequired ? requireApiKey(vendor, given) : given.apiKey;
    this.#path = path;
  }

  async request(request: EmbeddingRequest, signal: AbortSignal): Promise<Uint8Array> {
    const { modelId, texts, dimensions, timeoutMs } = request;
    const chunks: Buffer[] = [];
    await this.#vendor.post(
      {
        path: this.#path,
        headers: { ...bearer(this.#apiKey), "content-type": "application/json" },
        body: JSON.stringify({
          model: modelId,
          input: texts,
          encoding_format: "float",
          ...(dimensions === null ? {} : { dimensions }),
        }),
        limits: {
          firstByteMs: timeoutMs,
          betweenBytesMs: timeoutMs,
          totalMs: timeoutMs,
          replyMaxBytes: ANSWER_BYTES_MAX,
        },
        refuse: refuseOpenAi(this.#vendor.name, this.#apiKey),
      },
      (chunk) => {
        chunks.push(chunk);
        return false;
      },
      signal,
    );
    return Buffer.concat(chunks);
  }
}
