import type { Database } from "../../storage/database.js";
import type { ClaimedJob } from "../../storage/jobs/job-record.js";
import type { PassageToEmbed, StoredChoice } from "../../storage/knowledge/embedding-store.js";
import type { ProviderRecord } from "../../storage/records.js";
import { type FixedLimits, FixedLimitsJob, type JobOutcome } from "../jobs/job-runner.js";
import type { VendorClients } from "../tenancy/providers/vendor-clients.js";
import { vendorWords } from "../tenancy/providers/vendor-words.js";
import { VendorError } from "../vendors/contracts.js";
import { embeddingPlan } from "./embedding-plan.js";
import { mayEmbed, type PlatformModels } from "./embedding-provider.js";
import type { VectorSets } from "./vector-sets.js";

/** Each organization has its own queue. */
const LIMITS: FixedLimits = {
  runningMax: 2,
  runningPerQueueMax: 1,
  delaysMs: [10_000, 60_000, 10 * 60_000, 60 * 60_000],
};
/** Passages per request: some 12,000 characters. */
export const BATCH_PASSAGES_MAX = 16;
/** Requests of one organization until another one has its turn. */
const BATCHES_PER_TURN_MAX = 20;
const REQUEST_TIMEOUT_MS = 30_000;
const SWITCHED_OFF = "the provider is switched off, missing, or no longer offered for embeddings";
const OTHER_VECTORS =
  "the model answers with other vectors than when it was chosen: choose it again";

export interface EmbeddingJobOptions {
  readonly database: Pick<Database, "embeddings" | "knowledge" | "providers">;
  readonly clients: Pick<VendorClients, "embeddings">;
  readonly sets: Pick<VectorSets, "parse">;
  readonly platformModels: PlatformModels;
}

/** Embeds the passages of an organization that have no vector of the current model, and removes earlier models' vectors. */
export class EmbeddingJob extends FixedLimitsJob {
  readonly #options: EmbeddingJobOptions;

  constructor(options: EmbeddingJobOptions) {
    super(LIMITS);
    this.#options = options;
  }

  override async run({ orgId }: ClaimedJob, signal: AbortSignal): Promise<JobOutcome> {
    const { database, platformModels } = this.#options;
    const choice = await database.embeddings.find(orgId);
    await database.embeddings.purge(orgId, choice?.setId);
    if (choice === undefined) return { kind: "done" };
    const provider = await database.providers.findById(choice.providerId);
    if (provider?.active !== true || !mayEmbed(provider, choice, platformModels)) {
      return this.#fail(choice, SWITCHED_OFF);
    }
    for (let batch = 0; batch < BATCHES_PER_TURN_MAX && !signal.aborted; batch += 1) {
      const passages = await this.#next(choice);
      if (passages.length === 0) {
        await database.embeddings.noteError(choice, null);
        return { kind: "done" };
      }
      const failure = await this.#embed(choice, provider, passages, signal);
      if (failure !== undefined) return failure;
    }
    return { kind: "again", afterMs: 0 };
  }

  async #next(choice: StoredChoice): Promise<readonly PassageToEmbed[]> {
    const { knowledge, embeddings } = this.#options.database;
    const plan = embeddingPlan(await knowledge.list(choice.orgId));
    const documentIds = [...plan].filter(([, planned]) => planned === "embedded").map(([id]) => id);
    return embeddings.passagesWithout(choice, documentIds, BATCH_PASSAGES_MAX);
  }

  /** Returns undefined if the vectors are stored, or another choice was made meanwhile, whose own job follows. */
  async #embed(
    choice: StoredChoice,
    provider: ProviderRecord,
    passages: readonly PassageToEmbed[],
    signal: AbortSignal,
  ): Promise<JobOutcome | undefined> {
    const { database, clients, sets } = this.#options;
    const { modelId, requestedDimensions, orgId } = choice;
    // Callers often ask for the name of a document.
    const texts = passages.map(({ documentName, text }) => `${documentName}\n${text}`);
    const asked = {
      modelId,
      texts,
      dimensions: requestedDimensions,
      timeoutMs: REQUEST_TIMEOUT_MS,
    };
    let answer: Uint8Array;
    try {
      answer = await clients.embeddings(provider, orgId).request(asked, signal);
    } catch (error) {
      if (!(error instanceof VendorError)) throw error;
      if (signal.aborted) return { kind: "retry", error: "stopped" };
      const words = vendorWords(error, provider.orgId !== null);
      if (!error.retryable) return this.#fail(choice, words);
      await database.embeddings.noteError(choice, words);
      const { retryAfterMs } = error;
      return { kind: "retry", error: words, ...(retryAfterMs && { afterMs: retryAfterMs }) };
    }
    const parsed = await sets.parse(answer, texts.length);
    if (parsed === undefined) {
      const words = `${provider.providerKey} sent an invalid response`;
      await database.embeddings.noteError(choice, words);
      return { kind: "retry", error: words };
    }
    if (parsed.dimensions !== choice.dimensions) return this.#fail(choice, OTHER_VECTORS);
    const vectors = passages.flatMap(({ passage }, at) => {
      const vector = parsed.vectors[at];
      return vector === undefined ? [] : [{ passage, vector }];
    });
    const isCurrent = await database.embeddings.add(choice, vectors, parsed.tokens);
    return isCurrent ? undefined : { kind: "done" };
  }

  async #fail(choice: StoredChoice, error: string): Promise<JobOutcome> {
    await this.#options.database.embeddings.noteError(choice, error);
    return { kind: "failed", error };
  }
}
