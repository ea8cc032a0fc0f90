import type { ProviderRecord } from "../../../storage/records.js";
import { MP3 } from "../../audio/audio-format.js";
import { RequestError } from "../../request-error.js";
import type { Clock } from "../../time/clock.js";
import { VendorError, type VendorFault } from "../../vendors/contracts.js";
import type { VendorVoice } from "../../vendors/vendor.js";
import { isModelAllowed } from "../agents/agent-access.js";
import type { Tenant } from "../tenant.js";
import type { Providers } from "./providers.js";
import type { VendorClients } from "./vendor-clients.js";
import { vendorWordsOfTest } from "./vendor-words.js";

/** An account's voices seldom change, but the console requests them each time a page is opened. */
const LIST_KEPT_MS = 10 * 60_000;
/** After a refusal, the vendor is not asked again for each page that is opened. */
const REFUSAL_KEPT_MS = 10_000;
const LISTS_MAX = 200;
const VOICES_MAX = 500;
const LIST_TIMEOUT_MS = 15_000;
const PREVIEW_TIMEOUT_MS = 20_000;
/** More than a minute at the bit rate of the vendors' MP3. */
const PREVIEW_BYTES_MAX = 1024 * 1024;

export interface ProviderVoiceList {
  /** `model`: each model is a voice. `voice`: the voice is chosen in addition to the model, with `ttsConfig.voice`. */
  readonly chosenBy: "model" | "voice";
  readonly voices: readonly VendorVoice[];
  readonly hasMore: boolean;
  /** Why the vendor returned no list, in plain words; null if it did. */
  readonly error: string | null;
}

export interface PreviewRequest {
  readonly text: string;
  readonly modelId: string;
  readonly voice?: string | null | undefined;
  readonly speed: number;
  readonly language: string;
}

export type PreviewResult =
  | { readonly ok: true; readonly latencyMs: number; readonly audio: Uint8Array }
  | {
      readonly ok: false;
      readonly latencyMs: number;
      readonly error: string;
      readonly fault: VendorFault;
    };

interface KeptList {
  readonly untilMs: number;
  readonly list: Promise<ProviderVoiceList>;
}

interface ProviderVoicesOptions {
  readonly providers: Pick<Providers, "get">;
  readonly clients: Pick<VendorClients, "tts" | "voices">;
  readonly clock: Clock;
}

/** Lists the voices of TTS providers and makes previews of them. */
export class ProviderVoices {
  readonly #providers: ProviderVoicesOptions["providers"];
  readonly #clients: ProviderVoicesOptions["clients"];
  readonly #clock: Clock;
  /** Ordered by last use; the least recently used list comes first. */
  readonly #lists = new Map<string, KeptList>();

  constructor({ providers, clients, clock }: ProviderVoicesOptions) {
    this.#providers = providers;
    this.#clients = clients;
    this.#clock = clock;
  }

  /**
   * RequestError `not_found`; `invalid_request`: not a TTS provider; `provider_disabled`: a global one, switched off.
   */
  async list(tenant: Tenant, id: string): Promise<ProviderVoiceList> {
    const provider = await this.#speechProvider(tenant, id);
    const key = `${provider.id} ${provider.updatedAtMs}`;
    const nowMs = this.#clock.monotonicMs();
    const known = this.#lists.get(key);
    this.#lists.delete(key);
    const kept =
      known !== undefined && known.untilMs > nowMs ? known : this.#request(tenant, provider);
    this.#lists.set(key, kept);
    for (const oldest of this.#lists.keys()) {
      if (this.#lists.size <= LISTS_MAX) break;
      this.#lists.delete(oldest);
    }
    const list = await kept.list;
    if (list.error !== null && this.#lists.get(key) === kept) {
      const untilMs = Math.min(kept.untilMs, this.#clock.monotonicMs() + REFUSAL_KEPT_MS);
      this.#lists.set(key, { ...kept, untilMs });
    }
    return list;
  }

  /**
   * Synthesizes one sentence as MP3. Every answer of the vendor, including a refusal, is a result. RequestErrors as in
   * `list`, and `model_not_allowed` for a global provider.
   */
  async preview(
    tenant: Tenant,
    id: string,
    request: PreviewRequest,
    signal: AbortSignal,
  ): Promise<PreviewResult> {
    const provider = await this.#speechProvider(tenant, id);
    if (provider.orgId === null && !isModelAllowed(tenant.plan, provider, request.modelId)) {
      throw new RequestError(
        "model_not_allowed",
        `the plan "${tenant.plan.slug}" does not include this model`,
      );
    }
    const startedMs = this.#clock.monotonicMs();
    let firstByteMs: number | undefined;
    const deadline = new AbortController();
    const cancel = this.#clock.after(PREVIEW_TIMEOUT_MS, () => deadline.abort());
    const latencyMs = () => Math.round((firstByteMs ?? this.#clock.monotonicMs()) - startedMs);
    const pieces: Uint8Array[] = [];
    let byteCount = 0;
    try {
      const { text, modelId, speed, language, voice = null } = request;
      await this.#clients.tts(provider, tenant.organization.id, voice).synthesize(
        { text, modelId, speed, language, format: MP3 },
        (audio) => {
          firstByteMs ??= this.#clock.monotonicMs();
          byteCount += audio.length;
          if (byteCount <= PREVIEW_BYTES_MAX) pieces.push(audio);
          else deadline.abort();
        },
        AbortSignal.any([signal, deadline.signal]),
      );
      return { ok: true, latencyMs: latencyMs(), audio: Buffer.concat(pieces) };
    } catch (thrown) {
      if (!(thrown instanceof VendorError)) throw thrown;
      const error = deadline.signal.aborted ? outOfBounds(provider, byteCount) : thrown;
      const words = vendorWordsOfTest(error, provider.orgId !== null);
      return { ok: false, latencyMs: latencyMs(), error: words, fault: error.fault };
    } finally {
      cancel();
    }
  }

  async #speechProvider(tenant: Tenant, id: string): Promise<ProviderRecord> {
    const provider = await this.#providers.get(tenant, id);
    if (provider.category !== "tts") {
      throw new RequestError("invalid_request", "the provider is not a TTS provider");
    }
    if (provider.orgId === null && !provider.active) {
      throw new RequestError("provider_disabled", "the platform has switched this provider off");
    }
    return provider;
  }

  #request(tenant: Tenant, provider: ProviderRecord): KeptList {
    const untilMs = this.#clock.monotonicMs() + LIST_KEPT_MS;
    return { untilMs, list: this.#listOf(tenant, provider) };
  }

  /** Several requests may wait for one list, so a client that disconnects does not abort it. */
  async #listOf({ organization }: Tenant, provider: ProviderRecord): Promise<ProviderVoiceList> {
    const deadline = new AbortController();
    const cancel = this.#clock.after(LIST_TIMEOUT_MS, () => deadline.abort());
    try {
      const found = await this.#clients.voices(provider, organization.id, deadline.signal);
      if (found === undefined) return modelVoices(provider);
      const voices = found.voices.slice(0, VOICES_MAX);
      const hasMore = found.hasMore || voices.length < found.voices.length;
      return { chosenBy: "voice", voices, hasMore, error: null };
    } catch (thrown) {
      if (!(thrown instanceof VendorError)) throw thrown;
      const words = vendorWordsOfTest(thrown, provider.orgId !== null);
      return { chosenBy: "voice", voices: [], hasMore: false, error: words };
    } finally {
      cancel();
    }
  }
}

function modelVoices({ models }: ProviderRecord): ProviderVoiceList {
  const voices = models.map(({ modelId, label, description }) => {
    return { voiceId: modelId, name: label, language: null, description: description ?? null };
  });
  return { chosenBy: "model", voices: voices.slice(0, VOICES_MAX), hasMore: false, error: null };
}

function outOfBounds({ providerKey }: ProviderRecord, byteCount: number): VendorError {
  if (byteCount > PREVIEW_BYTES_MAX) {
    return new VendorError(providerKey, "badAnswer", `${providerKey}: the preview is too long`);
  }
  const seconds = PREVIEW_TIMEOUT_MS / 1_000;
  return new VendorError(providerKey, "timeout", `${providerKey}: no answer within ${seconds} s`);
}
