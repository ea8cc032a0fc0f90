import type { Lexicon } from "./language-lexicon.js";

export const DANISH: Lexicon = {
  numberJoints: "og",
  listJoints: "og så",
};
