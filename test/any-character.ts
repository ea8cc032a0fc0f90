import { type Arbitrary, integer } from "fast-check";

const SURROGATES_START = 0xd800;
const SURROGATES = 0x800;
const CODE_POINTS = 0x11_0000;

/**
 * Any character of Unicode, as `unit` of a string. fast-check's own "binary" is the same, but lists all of them once in each process,
 * which takes a second.
 */
export const anyCharacter: Arbitrary<string> = integer({
  min: 0,
  max: CODE_POINTS - SURROGATES - 1,
}).map((index) => String.fromCodePoint(index < SURROGATES_START ? index : index + SURROGATES));
