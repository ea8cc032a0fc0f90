/** The number of no mutant: none is switched on. */
export const NO_MUTANT = -1;
