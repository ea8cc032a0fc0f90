import { randomUUID } from "node:crypto";
import { passagesOf } from "../../engine/knowledge/passages.js";
import { questionTerms, searchTerms } from "../../engine/knowledge/search-terms.js";
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

const FOUND_MAX = 5;
const LANGUAGES = { English: ENGLISH_DOCUMENTS, German: GERMAN_DOCUMENTS };

/** Stores all the documents for the organization, which must exist, and asks all the questions. */
export async function recallTrial(
  database: Database,
  orgId: string,
  nowMs: number,
): Promise<readonly Recall[]> {
  const documents = Object.values(LANGUAGES).flat();
  const ids = new Map<TrialDocument, string>();
  for (const document of documents)
    ids.set(document, await stored(database, orgId, document, nowMs));
  const documentIds = [...ids.values()];
  const results: Recall[] = [];
  for (const [language, own] of Object.entries(LANGUAGES)) {
    const missed: string[] = [];
    const durationsMs: number[] = [];
    let [questions, first, fifth] = [0, 0, 0];
    for (const document of own) {
      for (const [question, answer] of document.questions) {
        const terms = questionTerms(orgId, question);
        const query = { documentIds, terms, limit: FOUND_MAX };
        const startedAtMs = performance.now();
        const found = (await database.knowledge.search(orgId, query, "turn")) ?? [];
        durationsMs.push(performance.now() - startedAtMs);
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

async function stored(
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
