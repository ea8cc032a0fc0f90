import type { StoredChoice } from "../../storage/knowledge/embedding-store.js";
import type { DocumentRecord } from "../../storage/knowledge/knowledge-store.js";
import { WHOLE_CHARACTERS_MAX } from "./call-knowledge.js";
import { SMALL_DOCUMENT_CHARACTERS_MAX } from "./document-text.js";
import { VECTORS_PER_ORGANIZATION_MAX } from "./vector-sets.js";

type Sized = Pick<DocumentRecord, "id" | "characters" | "passages">;

/**
 * `none`: the organization has no embeddings, or nothing of the document was read. `whole`: the document stands in the
 * prompt and is not searched. `pending`, `ready`, `failed`: it is embedded, or will be. `limited`: it has no room within
 * the organization's limit of vectors. Full text finds every document that is not `whole`.
 */
export type EmbeddingState = "none" | "whole" | "pending" | "ready" | "failed" | "limited";

export interface DocumentEmbedding {
  readonly state: EmbeddingState;
  readonly embeddedPassages: number;
}

/**
 * Decides what is embedded, from the oldest document on. Small documents are embedded only if an agent may have more of
 * them than fit into its prompt.
 */
export function embeddingPlan(
  documents: readonly Sized[],
): ReadonlyMap<string, "whole" | "embedded" | "limited"> {
  const isSmall = ({ characters }: Sized) => characters <= SMALL_DOCUMENT_CHARACTERS_MAX;
  const smallCharacters = documents
    .filter(isSmall)
    .reduce((sum, { characters }) => sum + characters, 0);
  const plan = new Map<string, "whole" | "embedded" | "limited">();
  let vectors = 0;
  for (const document of documents) {
    if (isSmall(document) && smallCharacters <= WHOLE_CHARACTERS_MAX)
      plan.set(document.id, "whole");
    else if (vectors + document.passages > VECTORS_PER_ORGANIZATION_MAX) {
      plan.set(document.id, "limited");
    } else {
      vectors += document.passages;
      plan.set(document.id, "embedded");
    }
  }
  return plan;
}

/** The state of each document. */
export function documentEmbeddings(
  documents: readonly Sized[],
  choice: Pick<StoredChoice, "error"> | undefined,
  counts: ReadonlyMap<string, number>,
): ReadonlyMap<string, DocumentEmbedding> {
  const plan = embeddingPlan(documents);
  return new Map(
    documents.map(({ id, passages }): [string, DocumentEmbedding] => {
      const embeddedPassages = Math.min(passages, counts.get(id) ?? 0);
      const planned = plan.get(id);
      if (choice === undefined || passages === 0)
        return [id, { state: "none", embeddedPassages: 0 }];
      if (planned === "whole" || planned === "limited")
        return [id, { state: planned, embeddedPassages }];
      if (embeddedPassages === passages) return [id, { state: "ready", embeddedPassages }];
      return [id, { state: choice.error === null ? "pending" : "failed", embeddedPassages }];
    }),
  );
}
