import type { Database } from "../../storage/database.js";
import { knowledgeJob } from "../../storage/jobs/job-record.js";
import type { FoundPassage } from "../../storage/knowledge/found-passage.js";
import type { DocumentContent, DocumentRecord } from "../../storage/knowledge/knowledge-store.js";
import type { AuditActor } from "../../storage/tenancy/audit-record.js";
import { invalidFields, RequestError } from "../request-error.js";
import { requireDocuments } from "../tenancy/agents/agent-documents.js";
import { auditEntry } from "../tenancy/audit-entry.js";
import type { Clock } from "../time/clock.js";
import {
  namesPrivateHost,
  PUBLIC_ADDRESS_EXPECTED,
} from "../vendors/transport/private-addresses.js";
import { CANDIDATES_MAX, mergePassages } from "./call-knowledge.js";
import type { DocumentReader } from "./document-reader.js";
import type { DocumentFormat } from "./document-text.js";
import { type DocumentEmbedding, documentEmbeddings } from "./embedding-plan.js";
import { questionTerms } from "./search-terms.js";
import type { VectorSearch } from "./vector-search.js";

export const DOCUMENTS_MAX = 100;
/** Total length of an organization's documents. */
export const ORGANIZATION_CHARACTERS_MAX = 10_000_000;
const ORGANIZATION_FULL = `the documents of an organization can have ${ORGANIZATION_CHARACTERS_MAX.toLocaleString("en-US")} characters together`;
/** A search takes milliseconds. */
const RETRY_AFTER_SEC = 1;
/** If an upload takes longer, the process that read it has stopped. */
const ABANDONED_AFTER_MS = 5 * 60 * 1_000;
/** By then all attempts of a fetch are over; a page without content has failed. */
const FETCHING_MAX_MS = 30 * 60 * 1_000;
const ABANDONED = "the server stopped while it read the document: upload it again";

const NOT_EMBEDDED: DocumentEmbedding = { state: "none", embeddedPassages: 0 };

const FORMATS: ReadonlyMap<string, DocumentFormat> = new Map([
  ["md", "md"],
  ["markdown", "md"],
  ["txt", "txt"],
  ["text", "txt"],
  ["html", "html"],
  ["htm", "html"],
  ["pdf", "pdf"],
]);

/** Returns the format by the file extension; undefined for an unsupported one. */
export function formatOf(name: string): DocumentFormat | undefined {
  return FORMATS.get(/\.([a-z]+)$/i.exec(name)?.[1]?.toLowerCase() ?? "");
}

export interface DocumentView extends DocumentRecord {
  readonly embedding: DocumentEmbedding;
  /** The agents that use the document. */
  readonly agents: readonly { readonly id: string; readonly name: string }[];
}

export interface UrlInput {
  readonly url: string;
  readonly name?: string | undefined;
  /** 0: the page is fetched only once. */
  readonly refreshHours?: number | undefined;
}

export interface KnowledgeOptions {
  readonly database: Pick<Database, "knowledge" | "agents" | "embeddings">;
  /** Undefined: full text alone. */
  readonly vectors?: Pick<VectorSearch, "open">;
  readonly reader: Pick<DocumentReader, "read">;
  readonly allowPrivateAddresses: boolean;
  readonly clock: Clock;
  readonly newId: () => string;
}

/** Documents of organizations that their agents can search. */
export class Knowledge {
  readonly #options: KnowledgeOptions;

  constructor(options: KnowledgeOptions) {
    this.#options = options;
  }

  /** Oldest first. */
  async list(orgId: string): Promise<readonly DocumentView[]> {
    const { agents } = this.#options.database;
    const [documents, all] = await Promise.all([this.#embedded(orgId), agents.list(orgId)]);
    return documents.map((document) => ({
      ...document,
      agents: all.filter((agent) => agent.knowledge.documentIds.includes(document.id)),
    }));
  }

  /** RequestError `not_found`. */
  async get(orgId: string, id: string): Promise<DocumentView> {
    const { agents } = this.#options.database;
    // Whether it is embedded depends on the organization's other documents.
    const document = (await this.#embedded(orgId)).find((each) => each.id === id);
    if (document === undefined) throw noSuchDocument();
    return { ...document, agents: await agents.listUsingDocument(orgId, id) };
  }

  /**
   * Stores a file and reads it; if it cannot be read, its record says why. RequestError `invalid_request`: the name has
   * no known extension; `limit_reached`; `overloaded`.
   */
  async upload(
    orgId: string,
    { name, bytes }: { readonly name: string; readonly bytes: Uint8Array },
    actor: AuditActor,
  ): Promise<DocumentView> {
    const { database, reader, clock } = this.#options;
    const format = formatOf(name);
    if (format === undefined) {
      const message =
        "expected a name that ends in .md, .txt, .html or .pdf: export other documents as PDF";
      throw invalidFields([{ path: "name", message }]);
    }
    const document = this.#newDocument(orgId, { name, source: "upload", sizeBytes: bytes.length });
    await this.#insert(document, actor);
    let isRead = false;
    try {
      const content = await reader.read({ orgId, name, format, bytes });
      isRead = true;
      await storeContent(database.knowledge, document, content, clock.epochMs());
    } catch (error) {
      // The client repeats the upload, and each attempt would leave a failed document.
      if (error instanceof RequestError && error.code === "overloaded") {
        const entry = this.#entry(document, "document.delete", actor);
        await database.knowledge.remove(orgId, document.id, entry);
        throw error;
      }
      const reason = isRead ? "could not be stored" : "could not be read now: upload it again";
      await database.knowledge
        .fail(document, `"${name}" ${reason}`, clock.epochMs())
        .catch(() => false);
      throw error;
    }
    return this.get(orgId, document.id);
  }

  /** Adds a page that a job fetches and reads, repeatedly if `refreshHours` is set. RequestErrors as in `upload`. */
  async addUrl(orgId: string, input: UrlInput, actor: AuditActor): Promise<DocumentView> {
    const { url, name = url, refreshHours = 0 } = input;
    if (!this.#options.allowPrivateAddresses && namesPrivateHost(new URL(url))) {
      const message = PUBLIC_ADDRESS_EXPECTED;
      throw invalidFields([{ path: "url", message }]);
    }
    const document = this.#newDocument(orgId, { name, source: "url", url, refreshHours });
    await this.#insert(document, actor);
    return { ...document, embedding: NOT_EMBEDDED, agents: [] };
  }

  /** Fetches a page again now. RequestError `not_found`; `conflict`: it was uploaded, or is being fetched. */
  async refresh(orgId: string, id: string): Promise<DocumentView> {
    const { database, clock, newId } = this.#options;
    const document = await this.get(orgId, id);
    if (document.source !== "url") throw new RequestError("conflict", "the document was uploaded");
    const nowMs = clock.epochMs();
    if (document.status === "processing" && nowMs - document.updatedAtMs < FETCHING_MAX_MS) {
      throw new RequestError("conflict", "the document is being fetched already");
    }
    const job = knowledgeJob(orgId, id, nowMs, newId());
    await database.knowledge.refresh(document, job, nowMs);
    return this.get(orgId, id);
  }

  /** RequestError `not_found`; `conflict`: agents use it. */
  async remove(orgId: string, id: string, actor: AuditActor): Promise<void> {
    const document = await this.get(orgId, id);
    if (document.agents.length > 0) {
      const names = document.agents.map((agent) => agent.name).join(", ");
      throw new RequestError("conflict", `agents use the document: ${names}`);
    }
    const entry = this.#entry(document, "document.delete", actor);
    await this.#options.database.knowledge.remove(orgId, id, entry);
  }

  /**
   * Returns the passages that an agent with these documents would get. RequestErrors `invalid_request`: unknown id;
   * `overloaded`.
   */
  async search(
    orgId: string,
    { question, documentIds }: { question: string; documentIds?: readonly string[] | undefined },
  ): Promise<readonly FoundPassage[]> {
    const { knowledge } = this.#options.database;
    const known = new Set((await knowledge.list(orgId)).map(({ id }) => id));
    const wanted = documentIds ?? [...known];
    requireDocuments(wanted, known, "documentIds");
    const terms = questionTerms(orgId, question);
    const query = { documentIds: wanted, terms, limit: CANDIDATES_MAX };
    const [found, nearest] = await Promise.all([
      knowledge.search(orgId, query, "early"),
      this.#nearest(orgId, question, wanted),
    ]);
    if (found !== undefined) return mergePassages(found, nearest);
    throw new RequestError("overloaded", "too many searches are running", {
      retryAfterSec: RETRY_AFTER_SEC,
    });
  }

  /** Marks uploads as failed if the server stopped while it read them. */
  failAbandoned(): Promise<number> {
    const { database, clock } = this.#options;
    return database.knowledge.failAbandoned(clock.epochMs() - ABANDONED_AFTER_MS, ABANDONED);
  }

  async #nearest(orgId: string, question: string, documentIds: readonly string[]) {
    const vectors = await this.#options.vectors?.open(orgId);
    return vectors?.nearest(question, documentIds);
  }

  /** The documents, oldest first, with the state of their embeddings. */
  async #embedded(orgId: string) {
    const { knowledge, embeddings } = this.#options.database;
    const [documents, choice] = await Promise.all([knowledge.list(orgId), embeddings.find(orgId)]);
    const counts = choice === undefined ? new Map() : await embeddings.counts(choice);
    const states = documentEmbeddings(documents, choice, counts);
    return documents.map((document) => {
      const embedding = states.get(document.id) ?? NOT_EMBEDDED;
      return { ...document, embedding };
    });
  }

  async #insert(document: DocumentRecord, actor: AuditActor): Promise<void> {
    const { database, newId } = this.#options;
    const { orgId, source, createdAtMs } = document;
    if ((await database.knowledge.characters(orgId)) >= ORGANIZATION_CHARACTERS_MAX) {
      throw new RequestError("limit_reached", ORGANIZATION_FULL);
    }
    const entry = this.#entry(document, "document.create", actor);
    const job =
      source === "url" ? knowledgeJob(orgId, document.id, createdAtMs, newId()) : undefined;
    if (await database.knowledge.insertWithin(document, DOCUMENTS_MAX, entry, job)) return;
    const words = `an organization can have ${DOCUMENTS_MAX} documents`;
    throw new RequestError("limit_reached", words);
  }

  #newDocument(
    orgId: string,
    given: Pick<DocumentRecord, "name" | "source"> & Partial<DocumentRecord>,
  ): DocumentRecord {
    const { clock, newId } = this.#options;
    const nowMs = clock.epochMs();
    return {
      id: newId(),
      orgId,
      url: null,
      status: "processing",
      error: null,
      sizeBytes: 0,
      characters: 0,
      passages: 0,
      refreshHours: 0,
      fetchedAtMs: null,
      createdAtMs: nowMs,
      updatedAtMs: nowMs,
      ...given,
    };
  }

  #entry(
    { id, orgId, name }: DocumentRecord,
    action: "document.create" | "document.delete",
    actor: AuditActor,
  ) {
    const { clock, newId } = this.#options;
    const target = { type: "document", id, orgId, name } as const;
    return auditEntry({ id: newId(), atMs: clock.epochMs(), actor, action, target, changes: [] });
  }
}

/** Stores the content of a document, or why there is none, for example because the organization's limit is reached. */
export async function storeContent(
  store: Pick<Database["knowledge"], "characters" | "finish" | "fail">,
  document: Pick<DocumentRecord, "orgId" | "id" | "name" | "characters">,
  content: DocumentContent | { readonly error: string },
  atMs: number,
  next?: Parameters<Database["knowledge"]["finish"]>[3],
): Promise<void> {
  if ("error" in content) {
    await store.fail(document, content.error, atMs, next);
    return;
  }
  const others = (await store.characters(document.orgId)) - document.characters;
  if (others + content.characters > ORGANIZATION_CHARACTERS_MAX) {
    await store.fail(document, `"${document.name}" does not fit: ${ORGANIZATION_FULL}`, atMs, next);
    return;
  }
  await store.finish(document, content, atMs, next);
}

function noSuchDocument(): RequestError {
  return new RequestError("not_found", "there is no such document");
}
