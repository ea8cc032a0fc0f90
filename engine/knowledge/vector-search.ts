import type { Database } from "../../storage/database.js";
import type { StoredChoice } from "../../storage/knowledge/embedding-store.js";
import type { FoundPassage } from "../../storage/knowledge/found-passage.js";
import type { ProviderRecord } from "../../storage/records.js";
import type { Logger } from "../log.js";
import { OrganizationCounts } from "../organization-counts.js";
import type { VendorClients } from "../tenancy/providers/vendor-clients.js";
import type { Clock } from "../time/clock.js";
import { Breakers } from "../vendors/chain/breakers.js";
import { VendorError } from "../vendors/contracts.js";
import { mayEmbed, type PlatformModels } from "./embedding-provider.js";
import type { VectorSets } from "./vector-sets.js";

/** An answer that takes longer is too late for the turn, and counts as a failure of the vendor. */
export const QUESTION_TIMEOUT_MS = 2_000;
/** Questions that are embedded at the same time; further ones are answered by full text alone. */
export const QUESTIONS_AT_ONCE_MAX = 64;
export const QUESTIONS_PER_ORGANIZATION_MAX = 32;
/** Passages that a search returns to be merged with those of full text. */
export const NEAREST_MAX = 20;

/**
 * `ok`: passages were found. `failed`: the vendor failed. `skipped`: the circuit breaker is open, or too many questions
 * are being embedded. `unusable`: the vectors are not loaded yet, or the answer does not fit them.
 */
export type EmbeddingOutcome = "ok" | "failed" | "skipped" | "unusable";

export interface VectorSearchOptions {
  readonly database: Pick<Database, "embeddings" | "providers">;
  readonly clients: Pick<VendorClients, "embeddings">;
  readonly sets: Pick<VectorSets, "load" | "search">;
  readonly platformModels: PlatformModels;
  readonly clock: Clock;
  readonly log: Logger;
  readonly onOutcome: (outcome: EmbeddingOutcome) => void;
}

/** The search by vectors in the documents of one organization. */
export interface OpenVectors {
  /** The nearest passages, the nearest first; undefined if only full text can answer. Never rejects. */
  nearest(
    question: string,
    documentIds: readonly string[],
  ): Promise<readonly FoundPassage[] | undefined>;
}

/**
 * Finds the passages whose embeddings are nearest to a question's. A vendor that fails costs no call anything: full text
 * answers alone, and after a few failures the vendor is not asked for a while.
 */
export class VectorSearch {
  readonly #options: VectorSearchOptions;
  /** Its own: an embedding model that fails is no reason to keep calls away from the LLM of the same provider. */
  readonly #breakers: Breakers;
  readonly #counts = new OrganizationCounts();
  #count = 0;

  constructor(options: VectorSearchOptions) {
    this.#options = options;
    const { clock, log } = options;
    const open = new Set<string>();
    this.#breakers = new Breakers(clock, {
      onEvent: () => undefined,
      publish: ({ id: providerId, vendor, phase, lastFault }) => {
        if (phase === "closed") open.delete(providerId);
        if (phase !== "open" || open.has(providerId)) return;
        open.add(providerId);
        const facts = { providerId, vendor, fault: lastFault?.fault };
        log.warn(facts, "embeddings fail; knowledge is searched by full text alone for a while");
      },
    });
  }

  /** Undefined if the organization has no embeddings. Its vectors are loaded from then on. Rejects if the store fails. */
  async open(orgId: string): Promise<OpenVectors | undefined> {
    const { database, sets, platformModels } = this.#options;
    const choice = await database.embeddings.find(orgId);
    if (choice === undefined) return undefined;
    const provider = await database.providers.findById(choice.providerId);
    if (provider?.active !== true || !mayEmbed(provider, choice, platformModels)) return undefined;
    const loaded = sets.load(choice);
    return {
      nearest: async (question, documentIds) => {
        const found = await this.#nearest(choice, provider, question, documentIds, loaded);
        this.#options.onOutcome(typeof found === "string" ? found : "ok");
        return typeof found === "string" ? undefined : found;
      },
    };
  }

  async #nearest(
    choice: StoredChoice,
    provider: ProviderRecord,
    question: string,
    documentIds: readonly string[],
    loaded: Promise<void>,
  ): Promise<readonly FoundPassage[] | Exclude<EmbeddingOutcome, "ok">> {
    const { orgId } = choice;
    const { database, sets, log } = this.#options;
    try {
      const answer = await this.#embed(choice, provider, question);
      if (typeof answer === "string") return answer;
      await loaded;
      const nearest = await sets.search(choice, answer, documentIds, NEAREST_MAX);
      if (nearest === undefined) return "unusable";
      const found = await database.embeddings.passages(orgId, documentIds, nearest);
      const byPassage = new Map(found.map(({ passage, ...each }) => [passage, each]));
      return nearest.flatMap((passage) => byPassage.get(passage) ?? []);
    } catch (error) {
      log.warn({ orgId, error }, "passages could not be searched by vectors");
      return "unusable";
    }
  }

  async #embed(
    choice: StoredChoice,
    provider: ProviderRecord,
    question: string,
  ): Promise<Uint8Array | "failed" | "skipped"> {
    const { orgId, modelId, requestedDimensions: dimensions } = choice;
    const { id, providerKey: vendor, updatedAtMs: version } = provider;
    const breaker = this.#breakers.of({ id, version, category: "llm", vendor });
    const isFull =
      this.#count >= QUESTIONS_AT_ONCE_MAX ||
      this.#counts.of(orgId) >= QUESTIONS_PER_ORGANIZATION_MAX;
    if (isFull || breaker.isSkipped) return "skipped";
    breaker.onRequest();
    this.#count += 1;
    this.#counts.add(orgId);
    try {
      const request = { modelId, texts: [question], dimensions, timeoutMs: QUESTION_TIMEOUT_MS };
      const client = this.#options.clients.embeddings(provider, orgId);
      const answer = await client.request(request, new AbortController().signal);
      breaker.answered();
      return answer;
    } catch (error) {
      if (!(error instanceof VendorError)) throw error;
      breaker.failed(error);
      return "failed";
    } finally {
      this.#count -= 1;
      this.#counts.remove(orgId);
    }
  }
}
