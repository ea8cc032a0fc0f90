import type { ProviderRecord } from "../../../storage/records.js";
import { MP3, PCM_16K, silenceOf } from "../../audio/audio-format.js";
import { RequestError } from "../../request-error.js";
import type { Clock } from "../../time/clock.js";
import { type SpeechListener, VendorError, type VendorFault } from "../../vendors/contracts.js";
import { isModelAllowed, sttModelId } from "../agents/agent-access.js";
import type { Tenant } from "../tenant.js";
import { currentFirst } from "./model-search.js";
import type { ProviderInput } from "./provider-input.js";
import type { Providers } from "./providers.js";
import type { VendorClients } from "./vendor-clients.js";
import { vendorWordsOfTest } from "./vendor-words.js";

/** A user waits for the result. A vendor that needs longer for one token is too slow for calls as well. */
const CHECK_MAX_MS = 20_000;
const CHECK_WORD = "Hello";
const CHECK_LANGUAGE = "en-US";
const CHECK_ENDPOINTING_MS = 200;
const SILENCE_MS = 200;

export type ProviderCheckResult =
  | { readonly ok: true; readonly latencyMs: number }
  | {
      readonly ok: false;
      readonly latencyMs: number;
      /** What failed, in plain words, without credentials. */
      readonly error: string;
      readonly fault: VendorFault;
    };

export interface ProviderChecksOptions {
  readonly providers: Pick<Providers, "get" | "draft" | "getGlobal" | "draftGlobal" | "noteTest">;
  readonly clients: Pick<VendorClients, "llm" | "tts" | "stt">;
  readonly clock: Clock;
}

/** How a vendor is tried, and for whom. */
interface Trial {
  readonly provider: ProviderRecord;
  /** Undefined where the provider lists none. */
  readonly modelId: string | undefined;
  /** The organization whose share of connections is used. */
  readonly orgId: string;
  readonly signal: AbortSignal;
}

type TrialOutcome =
  | { readonly latencyMs: number; readonly error?: undefined }
  | { readonly latencyMs: number; readonly error: VendorError };

/** Tests providers with the smallest request of their category: one token, one word, or a moment of silence. */
export class ProviderChecks {
  readonly #providers: ProviderChecksOptions["providers"];
  readonly #clients: ProviderChecksOptions["clients"];
  readonly #clock: Clock;

  constructor({ providers, clients, clock }: ProviderChecksOptions) {
    this.#providers = providers;
    this.#clients = clients;
    this.#clock = clock;
  }

  /**
   * Every answer of the vendor, including a refusal, is a result and is stored with the provider. An organization's own
   * provider can be tested while it is switched off. `signal`: aborts when the client disconnects. RequestError
   * `not_found`; `provider_disabled`: a global provider is switched off; `model_not_allowed`: the plan includes none of
   * its models.
   */
  async check(tenant: Tenant, id: string, signal: AbortSignal): Promise<ProviderCheckResult> {
    const provider = await this.#providers.get(tenant, id);
    const outcome = await this.#try(this.#trialOf(tenant, provider, signal));
    await this.#note(provider, outcome, signal);
    return resultOf(outcome, provider.orgId !== null);
  }

  /** As `check`, for a provider that is not stored. RequestErrors as in `Providers.draft`. */
  async checkNew(
    tenant: Tenant,
    input: ProviderInput,
    signal: AbortSignal,
  ): Promise<ProviderCheckResult> {
    const provider = await this.#providers.draft(tenant, input);
    const outcome = await this.#try(this.#trialOf(tenant, provider, signal));
    return resultOf(outcome, provider.orgId !== null);
  }

  /**
   * By an operator, with any model of a provider of the platform, also one that is switched off. The operator gets the
   * vendor's own words; with the provider those are kept that every organization may read. RequestError `not_found`.
   */
  async checkGlobal(
    { organization }: Tenant,
    id: string,
    signal: AbortSignal,
  ): Promise<ProviderCheckResult> {
    const provider = await this.#providers.getGlobal(id);
    const outcome = await this.#try(this.#trialOfOperator(organization.id, provider, signal));
    await this.#note(provider, outcome, signal);
    return resultOf(outcome, true);
  }

  /** As `checkGlobal`, of a provider that is not stored. RequestError as of `Providers.draftGlobal`. */
  async checkNewGlobal(
    { organization }: Tenant,
    input: ProviderInput,
    signal: AbortSignal,
  ): Promise<ProviderCheckResult> {
    const provider = await this.#providers.draftGlobal(input);
    const outcome = await this.#try(this.#trialOfOperator(organization.id, provider, signal));
    return resultOf(outcome, true);
  }

  async #note(provider: ProviderRecord, outcome: TrialOutcome, signal: AbortSignal): Promise<void> {
    // After an abort the vendor's answer is incomplete, so it is not stored.
    if (signal.aborted) return;
    const result = resultOf(outcome, provider.orgId !== null);
    const { ok, latencyMs } = result;
    const atMs = this.#clock.epochMs();
    const error = result.ok ? null : result.error;
    await this.#providers.noteTest(provider, { ok, latencyMs, error, atMs });
  }

  #trialOf(tenant: Tenant, provider: ProviderRecord, signal: AbortSignal): Trial {
    const models = currentFirst(provider, this.#clock.epochMs());
    const modelId = modelToTry(tenant, { ...provider, models });
    return { provider, modelId, orgId: tenant.organization.id, signal };
  }

  #trialOfOperator(orgId: string, provider: ProviderRecord, signal: AbortSignal): Trial {
    const [model] = currentFirst(provider, this.#clock.epochMs());
    return { provider, modelId: model?.modelId, orgId, signal };
  }

  async #try({ provider, modelId, orgId, signal }: Trial): Promise<TrialOutcome> {
    const startedMs = this.#clock.monotonicMs();
    const latencyMs = () => Math.round(this.#clock.monotonicMs() - startedMs);
    const deadline = new AbortController();
    const cancel = this.#clock.after(CHECK_MAX_MS, () => deadline.abort());
    try {
      await this.#call(provider, modelId, orgId, AbortSignal.any([signal, deadline.signal]));
      return { latencyMs: latencyMs() };
    } catch (thrown) {
      if (!(thrown instanceof VendorError)) throw thrown;
      const error = deadline.signal.aborted ? late(provider) : thrown;
      return { latencyMs: latencyMs(), error };
    } finally {
      cancel();
    }
  }

  async #call(
    provider: ProviderRecord,
    modelId: string | undefined,
    orgId: string,
    signal: AbortSignal,
  ): Promise<void> {
    const { providerKey, category } = provider;
    if (modelId === undefined) {
      throw new VendorError(providerKey, "refused", "the provider lists no model to try");
    }
    if (category === "llm") return this.#requestToken(provider, modelId, orgId, signal);
    if (category === "tts") return this.#requestSpeech(provider, modelId, orgId, signal);
    return this.#offerSilence(provider, modelId, orgId, signal);
  }

  async #requestToken(
    provider: ProviderRecord,
    modelId: string,
    orgId: string,
    signal: AbortSignal,
  ) {
    const client = this.#clients.llm(provider, orgId);
    const messages = [{ role: "user", content: CHECK_WORD } as const];
    const request = { modelId, messages, temperature: null, maxTokens: 1 };
    await client.complete(request, () => undefined, signal);
  }

  async #requestSpeech(
    provider: ProviderRecord,
    modelId: string,
    orgId: string,
    signal: AbortSignal,
  ) {
    const client = this.#clients.tts(provider, orgId);
    let byteCount = 0;
    await client.synthesize(
      { text: CHECK_WORD, modelId, speed: 1, language: CHECK_LANGUAGE, format: MP3 },
      (audio) => {
        byteCount += audio.length;
      },
      signal,
    );
    if (byteCount > 0) return;
    throw new VendorError(provider.providerKey, "badAnswer", "the answer holds no audio");
  }

  async #offerSilence(
    provider: ProviderRecord,
    modelId: string,
    orgId: string,
    signal: AbortSignal,
  ) {
    const client = this.#clients.stt(provider, orgId);
    const watch = new ListeningWatch();
    const stream = await client.open(
      {
        language: CHECK_LANGUAGE,
        modelId,
        format: PCM_16K,
        endpointingMs: CHECK_ENDPOINTING_MS,
      },
      watch,
      signal,
    );
    stream.write(silenceOf(PCM_16K, SILENCE_MS));
    await Promise.race([stream.finish(), watch.failed]);
    stream.close();
    if (watch.error !== undefined) throw watch.error;
    if (signal.aborted) throw late(provider);
  }
}

/** `isOwn`: the reason, which may tell of the account, is for the account's owner. */
function resultOf({ latencyMs, error }: TrialOutcome, isOwn: boolean): ProviderCheckResult {
  if (error === undefined) return { ok: true, latencyMs };
  return { ok: false, latencyMs, error: vendorWordsOfTest(error, isOwn), fault: error.fault };
}

/** A call would reconnect; here the first loss of the connection is the result. */
class ListeningWatch implements SpeechListener {
  readonly failed: Promise<void>;
  error: VendorError | undefined;
  #noteFailed: () => void = () => undefined;

  constructor() {
    this.failed = new Promise((resolve) => {
      this.#noteFailed = resolve;
    });
  }

  onSpeechStarted(): void {}
  onTranscript(): void {}
  onUtteranceEnd(): void {}
  onTurn(): void {}
  onRecovered(): void {}

  onLost(error: VendorError): void {
    this.onFailed(error);
  }

  onFailed(error: VendorError): void {
    this.error ??= error;
    this.#noteFailed();
  }
}

function modelToTry(tenant: Tenant, provider: ProviderRecord): string | undefined {
  const { plan } = tenant;
  if (provider.orgId === null && !provider.active) {
    throw new RequestError("provider_disabled", "the platform has switched this provider off");
  }
  const modelIds = provider.models.map(({ modelId }) => modelId);
  const allowed = modelIds.find((modelId) => isModelAllowed(plan, provider, modelId));
  if (allowed !== undefined) return allowed;
  if (provider.orgId === null) {
    throw new RequestError(
      "model_not_allowed",
      `the plan "${plan.slug}" includes no model of this provider`,
    );
  }
  return provider.category === "stt" ? sttModelId(plan, provider) : undefined;
}

function late({ providerKey }: ProviderRecord): VendorError {
  const seconds = CHECK_MAX_MS / 1_000;
  return new VendorError(providerKey, "timeout", `${providerKey}: no answer within ${seconds} s`);
}
