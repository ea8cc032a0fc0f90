import type { Database } from "../../storage/database.js";
import { embeddingJob } from "../../storage/jobs/job-record.js";
import type { StoredChoice } from "../../storage/knowledge/embedding-store.js";
import type { ProviderRecord } from "../../storage/records.js";
import { invalidFields, RequestError } from "../request-error.js";
import { actorOf, auditEntry } from "../tenancy/audit-entry.js";
import type { VendorClients } from "../tenancy/providers/vendor-clients.js";
import { vendorWordsOfTest } from "../tenancy/providers/vendor-words.js";
import type { Tenant } from "../tenancy/tenant.js";
import type { Clock } from "../time/clock.js";
import { VendorError } from "../vendors/contracts.js";
import { DIMENSIONS_MAX } from "../vendors/openai-protocol/embedding-answer.js";
import { VENDORS, vendorOf } from "../vendors/vendors.js";
import { documentEmbeddings } from "./embedding-plan.js";
import { mayEmbed, type PlatformModels } from "./embedding-provider.js";
import type { VectorSets } from "./vector-sets.js";

/** A user waits for the result. */
const CHECK_TIMEOUT_MS = 10_000;
const CHECK_TEXT = "Hello";
const VENDORS_WITH_EMBEDDINGS = VENDORS.filter(({ embeddings }) => embeddings !== undefined)
  .map(({ key }) => key)
  .join(", ");

export interface EmbeddingsInput {
  readonly providerId: string;
  readonly modelId: string;
  /** Omitted: the model's own number. */
  readonly dimensions?: number | null | undefined;
}

export interface EmbeddingsView {
  readonly choice: StoredChoice | undefined;
  /** Passages of the documents that are embedded. */
  readonly passages: number;
  readonly embeddedPassages: number;
  /** `vendor/model`, which the platform's providers offer. */
  readonly platformModels: readonly string[];
}

export interface EmbeddingsOptions {
  readonly database: Pick<Database, "embeddings" | "knowledge" | "providers">;
  readonly clients: Pick<VendorClients, "embeddings">;
  readonly sets: Pick<VectorSets, "parse">;
  readonly platformModels: PlatformModels;
  readonly clock: Clock;
  readonly newId: () => string;
}

/** The model that embeds an organization's passages, which the organization may choose. */
export class Embeddings {
  readonly #options: EmbeddingsOptions;

  constructor(options: EmbeddingsOptions) {
    this.#options = options;
  }

  async get(orgId: string): Promise<EmbeddingsView> {
    const { embeddings, knowledge } = this.#options.database;
    const choice = await embeddings.find(orgId);
    const platformModels = [...this.#options.platformModels];
    if (choice === undefined) return { choice, passages: 0, embeddedPassages: 0, platformModels };
    const [documents, counts] = await Promise.all([
      knowledge.list(orgId),
      embeddings.counts(choice),
    ]);
    const states = documentEmbeddings(documents, choice, counts);
    const embedded = documents.filter(({ id }) =>
      ["pending", "ready", "failed"].includes(states.get(id)?.state ?? "none"),
    );
    const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);
    return {
      choice,
      passages: sum(embedded.map(({ passages }) => passages)),
      embeddedPassages: sum(embedded.map(({ id }) => states.get(id)?.embeddedPassages ?? 0)),
      platformModels,
    };
  }

  /**
   * Tries the model with one request, stores the choice, and embeds all passages in the background. The same choice again
   * keeps its vectors and embeds what is missing. RequestError `invalid_request` names the field that is wrong.
   */
  async save(tenant: Tenant, input: EmbeddingsInput, signal: AbortSignal): Promise<EmbeddingsView> {
    const { database, clock, newId } = this.#options;
    const { id: orgId, name } = tenant.organization;
    const { providerId, modelId, dimensions: requestedDimensions = null } = input;
    const provider = await this.#provider(orgId, input);
    const dimensions = await this.#check(provider, { ...input, orgId }, signal);
    const nowMs = clock.epochMs();
    const job = embeddingJob(orgId, nowMs, newId());
    const known = await database.embeddings.find(orgId);
    const choice = { providerId, modelId, requestedDimensions, dimensions };
    if (known !== undefined && isSame(known, choice)) {
      await database.embeddings.noteError(known, null);
      await database.embeddings.retry(job);
      return this.get(orgId);
    }
    const times = { createdAtMs: nowMs, updatedAtMs: nowMs };
    const action = "organization.setEmbeddings";
    const entry = this.#entry(tenant, action, { id: orgId, name });
    await database.embeddings.save({ ...choice, orgId, setId: newId(), ...times }, entry, job);
    return this.get(orgId);
  }

  /** Switches embeddings off and removes the vectors in the background. RequestError `not_found`. */
  async clear(tenant: Tenant): Promise<void> {
    const { database, clock, newId } = this.#options;
    const { id, name } = tenant.organization;
    const entry = this.#entry(tenant, "organization.clearEmbeddings", { id, name });
    const job = embeddingJob(id, clock.epochMs(), newId());
    if (await database.embeddings.remove(id, entry, job)) return;
    throw new RequestError("not_found", "the organization has no embeddings");
  }

  async #provider(
    orgId: string,
    { providerId, modelId }: Pick<EmbeddingsInput, "providerId" | "modelId">,
  ): Promise<ProviderRecord> {
    const { database, platformModels } = this.#options;
    const provider = await database.providers.findById(providerId);
    const path = "providerId";
    if (provider === undefined || !mayEmbed(provider, { orgId, modelId }, platformModels)) {
      const offered = [...platformModels].join(", ");
      if (provider?.orgId === null && offered !== "") {
        const message = `expected a model that the platform offers for embeddings: ${offered}`;
        throw invalidFields([{ path: "modelId", message }]);
      }
      const message = "expected the id of a provider of the organization's own";
      throw invalidFields([{ path, message }]);
    }
    if (provider.category !== "llm" || vendorOf(provider.providerKey)?.embeddings === undefined) {
      const message = `expected an LLM provider of a vendor with embeddings: ${VENDORS_WITH_EMBEDDINGS}`;
      throw invalidFields([{ path, message }]);
    }
    if (provider.active) return provider;
    throw invalidFields([{ path, message: "expected a provider that is not switched off" }]);
  }

  /** Returns the dimensions of the model's vectors. */
  async #check(
    provider: ProviderRecord,
    { orgId, modelId, dimensions: wanted = null }: EmbeddingsInput & { readonly orgId: string },
    signal: AbortSignal,
  ): Promise<number> {
    const { clients, sets } = this.#options;
    const asked = { modelId, texts: [CHECK_TEXT], dimensions: wanted, timeoutMs: CHECK_TIMEOUT_MS };
    let answer: Uint8Array;
    try {
      answer = await clients.embeddings(provider, orgId).request(asked, signal);
    } catch (error) {
      if (!(error instanceof VendorError)) throw error;
      throw invalidFields([
        {
          path: fieldOf(error, wanted),
          message: vendorWordsOfTest(error, provider.orgId !== null),
        },
      ]);
    }
    const parsed = await sets.parse(answer, 1);
    if (parsed === undefined) {
      const message = `expected a model for embeddings: ${provider.providerKey} answered without a vector`;
      throw invalidFields([{ path: "modelId", message }]);
    }
    const { dimensions } = parsed;
    if (dimensions > DIMENSIONS_MAX) {
      const message = `expected at most ${DIMENSIONS_MAX}, the model's vectors have ${dimensions}`;
      throw invalidFields([{ path: "dimensions", message }]);
    }
    if (wanted === null || wanted === dimensions) return dimensions;
    const message = `expected ${dimensions} or none: the model cannot shorten its vectors`;
    throw invalidFields([{ path: "dimensions", message }]);
  }

  #entry(
    tenant: Tenant,
    action: "organization.setEmbeddings" | "organization.clearEmbeddings",
    { id, name }: { readonly id: string; readonly name: string },
  ) {
    const { clock, newId } = this.#options;
    const target = { type: "organization", id, orgId: id, name } as const;
    return auditEntry({
      id: newId(),
      atMs: clock.epochMs(),
      actor: actorOf(tenant),
      action,
      target,
    });
  }
}

function isSame(
  known: StoredChoice,
  choice: Pick<StoredChoice, "providerId" | "modelId" | "requestedDimensions" | "dimensions">,
): boolean {
  return (
    known.providerId === choice.providerId &&
    known.modelId === choice.modelId &&
    known.requestedDimensions === choice.requestedDimensions &&
    known.dimensions === choice.dimensions
  );
}

/** The field of the choice that the vendor's refusal is about. */
function fieldOf({ fault, vendorText = "" }: VendorError, dimensions: number | null): string {
  if (fault !== "refused" && fault !== "notFound") return "providerId";
  return dimensions !== null && /dimension/i.test(vendorText) ? "dimensions" : "modelId";
}
