import { sql } from "kysely";

/** SQLite's `lower` handles ASCII letters only: other letters are searched as typed, in lower and in upper case. */
export function wordPatterns(words: string): readonly string[] {
  const cases = [words, words.toLowerCase(), words.toUpperCase()];
  const lowered = cases.map((text) =>
    text.replace(/[A-Z]/g, (letter) => letter.toLowerCase()).replace(/[\\%_]/g, "\\$&"),
  );
  return [...new Set(lowered)].map((text) => `%${text}%`);
}

/** Whether a column contains what a pattern of `wordPatterns` describes. */
export function isLike(column: string, pattern: string) {
  return sql<boolean>`lower(${sql.ref(column)}) like ${pattern} escape '\\'`;
}
