import { randomUUID } from "node:crypto";
import {
  CANDIDATES_MAX,
  mergePassages,
  PASSAGES_MAX,
} from "../../engine/knowledge/call-knowledge.js";
import { passagesOf } from "../../engine/knowledge/passages.js";
import { questionTerms, searchTerms } from "../../engine/knowledge/search-terms.js";
import type { OpenVectors } from "../../engine/knowledge/vector-search.js";
import type { Database } from "../../storage/database.js";
import { quantile } from "../quantile.js";
import { ENGLISH_DOCUMENTS } from "./english-documents.js";
import { GERMAN_DOCUMENTS } from "./german-documents.js";

export interface TrialDocument {
  readonly name: string;
  readonly text: string;
  /** As callers ask, and words of the passage that answers. */
  readonly questions: readonly (readonly [question: string, answer: string])[];
}

export interface Recall {
  readonly language: string;
  readonly questions: number;
  /** Questions whose passage is the first that is found, or among the first five. */
  readonly first: number;
  readonly fifth: number;
  /** The 95th percentile of a search. */
  readonly searchMs: number;
  readonly missed: readonly string[];
}

export const LANGUAGES = { English: ENGLISH_DOCUMENTS, German: GERMAN_DOCUMENTS };

/** Stores all the documents for the organization, which must exist. Returns the id of each. */
export async function storeTrialDocuments(
  database: Database,
  orgId: string,
  nowMs: number,
): Promise<ReadonlyMap<TrialDocument, string>> {
  const ids = new Map<TrialDocument, string>();
  for (const document of Object.values(LANGUAGES).flat())
    ids.set(document, await storeDocument(database, orgId, document, nowMs));
  return ids;
}

/** Asks all the questions. `vectors`: their passages are merged with those of full text. */
export async function recallTrial(
  database: Database,
  orgId: string,
  ids: ReadonlyMap<TrialDocument, string>,
  vectors?: OpenVectors,
): Promise<readonly Recall[]> {
  const documentIds = [...ids.values()];
  const limit = vectors === undefined ? PASSAGES_MAX : CANDIDATES_MAX;
  const results: Recall[] = [];
  for (const [language, own] of Object.entries(LANGUAGES)) {
    const missed: string[] = [];
    const durationsMs: number[] = [];
    let [questions, first, fifth] = [0, 0, 0];
    for (const document of own) {
      for (const [question, answer] of document.questions) {
        const terms = questionTerms(orgId, question);
        const query = { documentIds, terms, limit };
        const startedAtMs = performance.now();
        const byText = (await database.knowledge.search(orgId, query, "turn")) ?? [];
        durationsMs.push(performance.now() - startedAtMs);
        const found = mergePassages(byText, await vectors?.nearest(question, documentIds));
        const at = found.findIndex(
          ({ documentId, text }) => documentId === ids.get(document) && text.includes(answer),
        );
        questions += 1;
        if (at === 0) first += 1;
        if (at >= 0) fifth += 1;
        else missed.push(question);
      }
    }
    const searchMs = quantile(durationsMs, 0.95);
    results.push({ language, questions, first, fifth, searchMs, missed });
  }
  return results;
}

/** Stores one document for the organization, and returns its id. */
export async function storeDocument(
  database: Database,
  orgId: string,
  { name, text }: TrialDocument,
  nowMs: number,
): Promise<string> {
  const id = randomUUID();
  const document = {
    id,
    orgId,
    name,
    source: "upload" as const,
    url: null,
    status: "processing" as const,
    error: null,
    sizeBytes: text.length,
    characters: 0,
    passages: 0,
    refreshHours: 0,
    fetchedAtMs: null,
    createdAtMs: nowMs,
    updatedAtMs: nowMs,
  };
  await database.knowledge.insertWithin(document, Number.MAX_SAFE_INTEGER, undefined);
  const passages = passagesOf(text).map((passage) => ({
    text: passage,
    terms: searchTerms(orgId, `${name}\n${passage}`),
  }));
  const content = { sizeBytes: text.length, characters: text.length, text: null, passages };
  await database.knowledge.finish(document, content, nowMs);
  return id;
}
