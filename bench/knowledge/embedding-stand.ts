import { randomUUID } from "node:crypto";
import { EmbeddingJob } from "../../engine/knowledge/embedding-job.js";
import { Embeddings } from "../../engine/knowledge/embeddings.js";
import { type EmbeddingOutcome, VectorSearch } from "../../engine/knowledge/vector-search.js";
import { VectorSets } from "../../engine/knowledge/vector-sets.js";
import { newLogger } from "../../engine/log.js";
import { startSandboxThread } from "../../engine/sandbox/start-sandbox-thread.js";
import { CredentialCipher } from "../../engine/security/credential-cipher.js";
import { VendorClients } from "../../engine/tenancy/providers/vendor-clients.js";
import type { Tenant } from "../../engine/tenancy/tenant.js";
import { SystemClock } from "../../engine/time/clock.js";
import { Connections } from "../../engine/vendors/transport/connections.js";
import type { Database } from "../../storage/database.js";

const LEASE_MS = 60_000;

type SandboxThread = Awaited<ReturnType<typeof startSandboxThread>>;

/** A server of OpenAI's protocol; without an address the sandbox's. */
export interface EmbeddingServer {
  readonly url: string | undefined;
  readonly key: string;
  readonly model: string;
}

/** The parts that embed the documents of one organization and its questions. */
export class EmbeddingStand {
  readonly search: VectorSearch;
  readonly outcomes = new Map<EmbeddingOutcome, number>();
  readonly #sandbox: SandboxThread | undefined;
  readonly #connections: Connections;
  readonly #sets: VectorSets;

  private constructor(
    sandbox: SandboxThread | undefined,
    connections: Connections,
    sets: VectorSets,
    search: (onOutcome: (outcome: EmbeddingOutcome) => void) => VectorSearch,
  ) {
    this.#sandbox = sandbox;
    this.#connections = connections;
    this.#sets = sets;
    this.search = search((outcome) => {
      this.outcomes.set(outcome, (this.outcomes.get(outcome) ?? 0) + 1);
    });
  }

  /** Chooses the model as a customer does, and embeds all that the organization has. */
  static async start(
    database: Database,
    tenant: Tenant,
    { url, key, model }: EmbeddingServer,
  ): Promise<EmbeddingStand> {
    const orgId = tenant.organization.id;
    const clock = new SystemClock();
    const sandbox = url === undefined ? await startSandboxThread({ tls: false }) : undefined;
    const connections = new Connections({ clock, allowPrivateAddresses: true });
    const cipher = new CredentialCipher("0123456789abcdef".repeat(4));
    const clients = new VendorClients(cipher, {}, { clock, connections });
    const onError = (error: unknown) => {
      throw error;
    };
    const sets = new VectorSets({ store: database.embeddings, clock, onError });
    const log = newLogger("warn");
    const parts = { database, clients, sets, platformModels: new Set<string>(), clock, log };
    const providerId = randomUUID();
    const nowMs = clock.epochMs();
    await database.providers.insertOwned(
      {
        id: providerId,
        orgId,
        category: "llm",
        providerKey: "openai",
        name: "Embeddings",
        sealedCredentials: cipher.seal({ apiKey: key }),
        models: [],
        settings: { baseUrl: url ?? sandbox?.urls.openai },
        active: true,
        createdAtMs: nowMs,
        updatedAtMs: nowMs,
      },
      1,
    );
    const embeddings = new Embeddings({ ...parts, newId: randomUUID });
    await embeddings.save(tenant, { providerId, modelId: model }, new AbortController().signal);
    const job = new EmbeddingJob(parts);
    const [claimed] = await database.jobs.claim({
      queue: `embedding:${orgId}`,
      owner: "bench",
      nowMs: clock.epochMs(),
      leaseUntilMs: clock.epochMs() + LEASE_MS,
      limit: 1,
    });
    if (claimed === undefined) throw new Error("there is no job that embeds");
    let outcome = await job.run(claimed, new AbortController().signal);
    while (outcome.kind === "again") outcome = await job.run(claimed, new AbortController().signal);
    if (outcome.kind !== "done") throw new Error(outcome.error);
    return new EmbeddingStand(
      sandbox,
      connections,
      sets,
      (onOutcome) => new VectorSearch({ ...parts, onOutcome }),
    );
  }

  /** How long the sandbox takes for each answer from now on. */
  async delay(firstByteMs: number): Promise<void> {
    if (this.#sandbox === undefined) return;
    const response = await fetch(`${this.#sandbox.urls.desk}/faults`, {
      method: "PUT",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ openaiEmbeddings: { firstByteMs } }),
    });
    if (!response.ok) throw new Error(`the sandbox answered with ${response.status}`);
  }

  async close(): Promise<void> {
    await this.#sets.close();
    await this.#connections.close();
    await this.#sandbox?.close();
  }
}
