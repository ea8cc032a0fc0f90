import type { Lexicon } from "./language-lexicon.js";

export const SWEDISH: Lexicon = {
  ones: `
    noll ett två tre fyra fem sex sju åtta nio tio elva tolv tretton fjorton femton sexton sjutton arton
    nitton
  `,
  numberJoints: "och",
  listJoints: "och sedan",
};
