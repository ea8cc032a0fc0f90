import type { Lexicon } from "./language-lexicon.js";

export const FINNISH: Lexicon = {
  ones: "nolla yksi kaksi kolme neljä viisi kuusi seitsemän kahdeksan yhdeksän",
  listJoints: "ja sitten",
};
