import { sql } from "kysely";

export interface FoundPassage {
  readonly documentId: string;
  readonly documentName: string;
  readonly position: number;
  readonly text: string;
}

/** A passage belongs to the document's current content, not to an earlier or a later one. */
export const IS_CURRENT = sql<boolean>`p.${sql.ref("position")} >= d.${sql.ref("firstPosition")}
  and p.${sql.ref("position")} < d.${sql.ref("firstPosition")} + d.${sql.ref("passages")}`;
