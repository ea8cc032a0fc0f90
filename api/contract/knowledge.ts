import * as v from "valibot";
import { isWebAddress, URL_CHARACTERS_MAX } from "./agent-tool.js";
import {
  Count,
  Id,
  idField,
  nameField,
  requestObject,
  Timestamp,
  wholeNumberField,
  worded,
} from "./fields.js";

/** Fixed by `DOCUMENT_BYTES_MAX` of the engine, which a test compares. */
export const UPLOAD_BYTES_MAX = 10 * 1024 * 1024;
const QUESTION_CHARACTERS_MAX = 1_000;
const DOCUMENTS_OF_AGENT_MAX = 50;
const REFRESH_HOURS_MAX = 720;
/** Fixed by `DIMENSIONS_MAX` of the engine, which a test compares. */
export const EMBEDDING_DIMENSIONS_MAX = 3_072;

/** The documents that an agent uses, or a search looks into. */
export const documentIdsField = worded(
  v.pipe(
    v.array(idField("the id of a document")),
    v.maxLength(DOCUMENTS_OF_AGENT_MAX),
    v.checkItems((id, index, ids) => ids.indexOf(id) === index),
    v.description(`ids of documents, a list of at most ${DOCUMENTS_OF_AGENT_MAX} different ones`),
  ),
);

export const UploadQuery = requestObject({
  name: nameField("the file's name, which ends in .md, .txt, .html or .pdf"),
});

export const DocumentUrlBody = requestObject({
  url: worded(
    v.pipe(
      v.string(),
      v.maxLength(URL_CHARACTERS_MAX),
      v.check(isWebAddress),
      v.examples(["https://example.com/opening-hours"]),
      v.description("the page's http or https address, without user name"),
    ),
  ),
  name: v.optional(nameField("what the document is called; its address unless given")),
  refreshHours: v.optional(
    wholeNumberField(
      "hours from one fetch to the next, 0 for a single fetch",
      0,
      REFRESH_HOURS_MAX,
    ),
  ),
});

export const KnowledgeSearchBody = requestObject({
  question: nameField("the words of a caller", QUESTION_CHARACTERS_MAX),
  documentIds: v.optional(documentIdsField),
});

export const KnowledgeDocument = v.object({
  id: Id,
  name: v.string(),
  source: v.picklist(["upload", "url"]),
  url: v.nullable(v.string()),
  status: v.picklist(["processing", "ready", "failed"]),
  error: v.pipe(
    v.nullable(v.string()),
    v.description("why it could not be read; what was read before is still used"),
  ),
  sizeBytes: Count,
  characters: v.pipe(Count, v.description("of its text")),
  passages: v.pipe(Count, v.description("pieces that are searched, 0 until it was read")),
  embedding: v.pipe(
    v.picklist(["none", "whole", "pending", "ready", "failed", "limited"]),
    v.description(
      "`none`: the organization has no embeddings; `whole`: stands in the prompt, so it is not embedded; `limited`: beyond the organization's limit of vectors. Full text finds it in any state but `whole`",
    ),
  ),
  embeddedPassages: v.pipe(Count, v.description("pieces that are searched by meaning, too")),
  refreshHours: v.pipe(Count, v.description("0: fetched once")),
  fetchedAt: v.pipe(v.nullable(Timestamp), v.description("when it was read last")),
  agents: v.pipe(v.array(v.object({ id: Id, name: v.string() })), v.description("which use it")),
  createdAt: Timestamp,
  updatedAt: Timestamp,
});

export const EmbeddingsBody = requestObject({
  providerId: idField(
    "the id of an LLM provider of your own, whose vendor has embeddings, or of the platform's for a model of `platformModels`",
  ),
  modelId: nameField("the vendor's name of an embedding model"),
  dimensions: v.optional(
    worded(
      v.pipe(
        v.nullable(
          v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(EMBEDDING_DIMENSIONS_MAX)),
        ),
        v.description(
          `null or a whole number from 1 to ${EMBEDDING_DIMENSIONS_MAX}: how many numbers a vector has, for a model that can shorten its vectors`,
        ),
      ),
    ),
  ),
});

export const Embeddings = v.object({
  providerId: v.pipe(v.nullable(Id), v.description("null: the organization has no embeddings")),
  modelId: v.nullable(v.string()),
  requestedDimensions: v.nullable(Count),
  dimensions: v.pipe(v.nullable(Count), v.description("how many numbers each vector has")),
  passages: v.pipe(Count, v.description("pieces of documents that are embedded")),
  embeddedPassages: v.pipe(Count, v.description("those that have a vector of this model")),
  tokens: v.pipe(Count, v.description("that the vendor has counted for documents")),
  error: v.pipe(v.nullable(v.string()), v.description("why documents cannot be embedded now")),
  updatedAt: v.pipe(v.nullable(Timestamp), v.description("when the model was chosen")),
  platformModels: v.pipe(
    v.array(v.string()),
    v.description("`vendor/model`: the models that the platform's LLM providers offer"),
  ),
});

export const FoundPassages = v.object({
  passages: v.array(
    v.object({
      documentId: Id,
      documentName: v.string(),
      position: v.pipe(Count, v.description("in the document, from 0")),
      text: v.string(),
    }),
  ),
});
