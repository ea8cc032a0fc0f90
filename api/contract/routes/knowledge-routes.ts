import * as v from "valibot";
import { Success } from "../fields.js";
import {
  DocumentUrlBody,
  Embeddings,
  EmbeddingsBody,
  FoundPassages,
  KnowledgeDocument,
  KnowledgeSearchBody,
  UPLOAD_BYTES_MAX,
  UploadQuery,
} from "../knowledge.js";
import type { Route } from "./route.js";
import { created, ok, refused } from "./route-answer.js";

const dashboard = { auth: "dashboard", limit: "general", group: "Knowledge" } as const;
const isFull = refused(403, "The organization is pending, or has as many documents as it can");

/** Documents of an organization, and what a question finds in them. */
export const KNOWLEDGE_ROUTES = {
  listDocuments: {
    method: "get",
    path: "/api/dashboard/knowledge/documents",
    summary: "List the documents",
    ...dashboard,
    success: ok("All documents, oldest first", v.array(KnowledgeDocument)),
  },
  uploadDocument: {
    method: "post",
    path: "/api/dashboard/knowledge/documents",
    summary: "Upload a document",
    ...dashboard,
    query: UploadQuery,
    upload: { bytesMax: UPLOAD_BYTES_MAX },
    success: created(
      "The document: `failed` with the reason where it cannot be read",
      KnowledgeDocument,
    ),
    others: [isFull],
  },
  addDocumentUrl: {
    method: "post",
    path: "/api/dashboard/knowledge/urls",
    summary: "Add a web page as a document",
    ...dashboard,
    body: DocumentUrlBody,
    success: created("The document, which is `processing` until it was fetched", KnowledgeDocument),
    others: [isFull],
  },
  getDocument: {
    method: "get",
    path: "/api/dashboard/knowledge/documents/:id",
    summary: "Show a document",
    ...dashboard,
    success: ok("The document", KnowledgeDocument),
  },
  refreshDocument: {
    method: "post",
    path: "/api/dashboard/knowledge/documents/:id/refresh",
    summary: "Fetch a web page again",
    ...dashboard,
    success: ok("The document, which is `processing`", KnowledgeDocument),
    others: [refused(409, "The document was uploaded, or is being fetched")],
  },
  deleteDocument: {
    method: "delete",
    path: "/api/dashboard/knowledge/documents/:id",
    summary: "Delete a document",
    ...dashboard,
    success: ok("Deleted, with all that was read of it", Success),
    others: [refused(409, "Agents use the document")],
  },
  searchKnowledge: {
    method: "post",
    path: "/api/dashboard/knowledge/search",
    summary: "Find what an agent would be given for a question",
    ...dashboard,
    body: KnowledgeSearchBody,
    success: ok("At most five passages, the best first", FoundPassages),
  },
  getEmbeddings: {
    method: "get",
    path: "/api/dashboard/knowledge/embeddings",
    summary: "Show the embedding model",
    ...dashboard,
    success: ok("The model and how much is embedded; null where there is none", Embeddings),
  },
  setEmbeddings: {
    method: "post",
    path: "/api/dashboard/knowledge/embeddings",
    summary: "Choose the embedding model",
    ...dashboard,
    limit: "vendor",
    body: EmbeddingsBody,
    success: ok(
      "The model was tried and is stored; all documents are embedded in the background",
      Embeddings,
    ),
  },
  clearEmbeddings: {
    method: "delete",
    path: "/api/dashboard/knowledge/embeddings",
    summary: "Switch embeddings off",
    ...dashboard,
    success: ok("Switched off; the vectors are removed in the background", Success),
    others: [refused(404, "There is no embedding model")],
  },
} as const satisfies Readonly<Record<string, Route>>;
