import type { Embeddings, EmbeddingsView } from "../../engine/knowledge/embeddings.js";
import type { DocumentView, Knowledge } from "../../engine/knowledge/knowledge.js";
import { actorOf } from "../../engine/tenancy/audit-entry.js";
import type { Handlers } from "../http/endpoints/api-endpoint.js";
import { timestamp } from "./timestamp.js";

export function knowledgeRoutes(
  knowledge: Knowledge,
  embeddings: Embeddings,
): Handlers<
  | "listDocuments"
  | "uploadDocument"
  | "addDocumentUrl"
  | "getDocument"
  | "refreshDocument"
  | "deleteDocument"
  | "searchKnowledge"
  | "getEmbeddings"
  | "setEmbeddings"
  | "clearEmbeddings"
> {
  return {
    listDocuments: async ({ tenant }) =>
      (await knowledge.list(tenant.organization.id)).map(documentView),
    uploadDocument: async ({ tenant, query: { name }, body: bytes }) => {
      const { id: orgId } = tenant.organization;
      return documentView(await knowledge.upload(orgId, { name, bytes }, actorOf(tenant)));
    },
    addDocumentUrl: async ({ tenant, body }) =>
      documentView(await knowledge.addUrl(tenant.organization.id, body, actorOf(tenant))),
    getDocument: async ({ tenant, id }) =>
      documentView(await knowledge.get(tenant.organization.id, id)),
    refreshDocument: async ({ tenant, id }) =>
      documentView(await knowledge.refresh(tenant.organization.id, id)),
    deleteDocument: async ({ tenant, id }) => {
      await knowledge.remove(tenant.organization.id, id, actorOf(tenant));
      return { success: true };
    },
    searchKnowledge: async ({ tenant, body }) => {
      const passages = await knowledge.search(tenant.organization.id, body);
      return { passages: [...passages] };
    },
    getEmbeddings: async ({ tenant }) =>
      embeddingsView(await embeddings.get(tenant.organization.id)),
    setEmbeddings: async ({ tenant, body, signal }) =>
      embeddingsView(await embeddings.save(tenant, body, signal)),
    clearEmbeddings: async ({ tenant }) => {
      await embeddings.clear(tenant);
      return { success: true };
    },
  };
}

function embeddingsView({ choice, passages, embeddedPassages, platformModels }: EmbeddingsView) {
  return {
    providerId: choice?.providerId ?? null,
    modelId: choice?.modelId ?? null,
    requestedDimensions: choice?.requestedDimensions ?? null,
    dimensions: choice?.dimensions ?? null,
    passages,
    embeddedPassages,
    tokens: choice?.tokens ?? 0,
    error: choice?.error ?? null,
    updatedAt: choice === undefined ? null : timestamp(choice.updatedAtMs),
    platformModels: [...platformModels],
  };
}

function documentView({
  fetchedAtMs,
  createdAtMs,
  updatedAtMs,
  agents,
  ...document
}: DocumentView) {
  const { id, name, source, url, status, error, sizeBytes } = document;
  const { characters, passages, refreshHours, embedding } = document;
  return {
    id,
    name,
    source,
    url,
    status,
    error,
    sizeBytes,
    characters,
    passages,
    embedding: embedding.state,
    embeddedPassages: embedding.embeddedPassages,
    refreshHours,
    fetchedAt: fetchedAtMs === null ? null : timestamp(fetchedAtMs),
    agents: agents.map((agent) => ({ id: agent.id, name: agent.name })),
    createdAt: timestamp(createdAtMs),
    updatedAt: timestamp(updatedAtMs),
  };
}
