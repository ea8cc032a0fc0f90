import { setTimeout } from "node:timers/promises";
import { questionTerms } from "../../engine/knowledge/search-terms.js";
import type { Database } from "../../storage/database.js";
import { SEARCHES_PER_ORGANIZATION_MAX } from "../../storage/knowledge/knowledge-store.js";
import { SeededRandom } from "../../test/simulation/seeded-random.js";
import { quantile } from "../quantile.js";
import { LANGUAGES, storeDocument, type TrialDocument } from "./recall-trial.js";

/** Together as long as the documents of one organization may be. */
const DOCUMENTS = 10;
const DOCUMENT_CHARACTERS = 960_000;
const SENTENCES_PER_PARAGRAPH = 5;
const COMMIT_PAUSE_MS = 5;

export interface FullLoad {
  readonly passages: number;
  /** Searches in all documents, and in one short document. */
  readonly allMs: readonly number[];
  readonly oneMs: readonly number[];
  /** Another organization's requests during the searches in all documents. */
  readonly otherRequestsMs: readonly number[];
  /** Commits of a call without searches, and while as many searches run as an organization may have. */
  readonly commitsAloneMs: readonly number[];
  readonly commitsMs: readonly number[];
  /** Those searches. */
  readonly atOnceMs: readonly number[];
}

/** Fills the organization with documents whose words are those of the trial, then asks the trial's questions. */
export async function fullLoad(
  database: Database,
  orgId: string,
  trial: ReadonlyMap<TrialDocument, string>,
): Promise<FullLoad> {
  const random = new SeededRandom(37);
  const documents = Object.values(LANGUAGES).flat();
  const words = documents.flatMap(({ text }) => text.match(/[\p{L}\p{N}]+/gu) ?? []);
  const ids: string[] = [];
  for (let each = 0; each < DOCUMENTS; each += 1) {
    const document = { name: `handbook-${each}.md`, text: textOf(words, random), questions: [] };
    ids.push(await storeDocument(database, orgId, document, Date.now()));
  }
  const [shortId = ""] = trial.values();
  const all = await database.knowledge.list(orgId);
  const questions = documents.flatMap((document) => document.questions.map(([text]) => text));
  const search = async (question: string, documentIds: readonly string[]) => {
    const query = { documentIds, terms: questionTerms(orgId, question), limit: 5 };
    const startedAtMs = performance.now();
    await database.knowledge.search(orgId, query, "turn");
    return performance.now() - startedAtMs;
  };
  const [allMs, oneMs, otherRequestsMs]: [number[], number[], number[]] = [[], [], []];
  for (const question of questions) {
    oneMs.push(await search(question, [shortId]));
    const state = { isSearching: true };
    const searched = search(question, [...ids, ...trial.values()]).finally(() => {
      state.isSearching = false;
    });
    while (state.isSearching) {
      const startedAtMs = performance.now();
      await database.knowledge.list("another");
      otherRequestsMs.push(performance.now() - startedAtMs);
      await setTimeout(1);
    }
    allMs.push(await searched);
  }
  const commitsAloneMs: number[] = [];
  for (const _question of questions) commitsAloneMs.push(await commit(database, orgId));
  const [commitsMs, atOnceMs]: [number[], number[]] = [[], []];
  const waiting = [...questions, ...questions];
  const running = { searchers: SEARCHES_PER_ORGANIZATION_MAX };
  const searcher = async () => {
    for (let next = waiting.pop(); next !== undefined; next = waiting.pop())
      atOnceMs.push(await search(next, [...ids, ...trial.values()]));
    running.searchers -= 1;
  };
  const searchers = Array.from({ length: running.searchers }, searcher);
  while (running.searchers > 0) {
    commitsMs.push(await commit(database, orgId));
    await setTimeout(COMMIT_PAUSE_MS);
  }
  await Promise.all(searchers);
  const passages = all.reduce((sum, document) => sum + document.passages, 0);
  return { passages, allMs, oneMs, otherRequestsMs, commitsAloneMs, commitsMs, atOnceMs };
}

/** Stores the words of a turn, and returns how long that took. */
async function commit(database: Database, orgId: string): Promise<number> {
  const startedAtMs = performance.now();
  const words = [{ role: "user", content: "Do you have a table for two?" }] as const;
  await database.history.replace({ orgId, key: "bench" }, [], words, Date.now());
  return performance.now() - startedAtMs;
}

export function fullLoadLine(load: FullLoad): string {
  const { passages, allMs, oneMs, otherRequestsMs, commitsAloneMs, commitsMs, atOnceMs } = load;
  const words = (values: readonly number[]) => {
    const shares = [0.5, 0.95, 0.99].map(
      (share) => `p${100 * share} ${quantile(values, share).toFixed(1)} ms`,
    );
    return `${shares.join(", ")}, most ${Math.max(...values).toFixed(1)} ms`;
  };
  return [
    `${passages} passages of one organization`,
    `  search in all documents: ${words(allMs)}`,
    `  search in one short document: ${words(oneMs)}`,
    `  other requests meanwhile: ${words(otherRequestsMs)}`,
    `  commits of a call without searches: ${words(commitsAloneMs)}`,
    `  commits of a call beside ${SEARCHES_PER_ORGANIZATION_MAX} searches at once: ${words(commitsMs)}`,
    `  these searches: ${words(atOnceMs)}`,
  ].join("\n");
}

function textOf(words: readonly string[], random: SeededRandom): string {
  let text = "";
  for (let sentence = 0; text.length < DOCUMENT_CHARACTERS; sentence += 1) {
    const own = Array.from({ length: random.whole(6, 16) }, () => random.pick(words));
    // Numbers and names that stand in one place alone.
    own.push(String(random.whole(1, 100_000)), random.whole(1e9, 1e12).toString(36));
    text += `${own.join(" ")}.${sentence % SENTENCES_PER_PARAGRAPH === 0 ? "\n\n" : " "}`;
  }
  return text;
}
