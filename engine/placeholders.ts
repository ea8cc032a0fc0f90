/** `{{name}}` and `{{name|default}}` in the texts of an agent. */

/** Every call has these; an unknown one is empty. */
export const SYSTEM_VARIABLES = [
  "caller",
  "called",
  "callerName",
  "callId",
  "channel",
  "date",
  "time",
  "weekday",
] as const;

const SYSTEM_NAMES: ReadonlySet<string> = new Set(SYSTEM_VARIABLES);

const DEFAULT_CHARACTERS_MAX = 200;

/** Blanks inside the braces are allowed. A default is what stands from the bar to the braces, without blanks around it; one right behind the bar is part of it, unless one stands before the bar too. */
const PLACEHOLDER = new RegExp(
  `\\{\\{\\s*([A-Za-z]\\w{0,39})\\s*(?:(?:(?<=\\s)\\|\\s*|\\|)([^{}]{0,${DEFAULT_CHARACTERS_MAX}}?)\\s*)?\\}\\}`,
  "g",
);
/** The same, or whatever else stands in braces: agents of older releases have such texts. */
const ANY_IN_BRACES = new RegExp(`${PLACEHOLDER.source}|\\{\\{([^{}]*)\\}\\}`, "g");
/** A word with its variables, which may have blanks inside. */
const WORD = new RegExp(`(?:${PLACEHOLDER.source}|\\S)+`, "g");
/** Stands for a variable where the text around it is looked at; no text of an agent has it. */
const PLACE = "\0";
const BRACES = /\{\{|\}\}/;

/** A text with the variables replaced; `valueOf` gets the default, or an empty text without one. */
export function replacePlaceholders(
  text: string,
  valueOf: (name: string, fallback: string) => string,
): string {
  return text.replace(PLACEHOLDER, (_place, name: string, fallback: string = "") =>
    valueOf(name, fallback),
  );
}

/** As `replacePlaceholders`. A name in braces that no variable can have is not spoken: its default is, or nothing. */
export function replaceAllBraces(
  text: string,
  valueOf: (name: string, fallback: string) => string,
): string {
  return text.replace(
    ANY_IN_BRACES,
    (_place, name: string | undefined, fallback: string = "", malformed: string = "") =>
      name === undefined
        ? malformed.slice(malformed.indexOf("|") + 1 || malformed.length)
        : valueOf(name, fallback),
  );
}

export function hasPlaceholder(text: string): boolean {
  return text.search(PLACEHOLDER) >= 0;
}

export function hasBraces(text: string): boolean {
  return BRACES.test(text);
}

/** The words of a text; a variable is not divided. */
export function wordsWithPlaceholders(text: string): readonly string[] {
  return [...text.matchAll(WORD)].map(([word]) => word);
}

/** What a text has around its variables, and their defaults. */
export function literalParts(text: string): {
  readonly around: readonly string[];
  readonly defaults: readonly string[];
} {
  const fallbacks = [...text.matchAll(PLACEHOLDER)].map(([, , fallback = ""]) => fallback);
  const around = text.replace(PLACEHOLDER, PLACE).split(PLACE);
  const isThere = (part: string) => part !== "";
  return { around: around.filter(isThere), defaults: fallbacks.filter(isThere) };
}

/** The names of the text's variables, with repetitions. */
export function namesIn(text: string): readonly string[] {
  return [...text.matchAll(PLACEHOLDER)].map(([, name = ""]) => name);
}

/** The names that not every call has a value for, each once. */
export function ownNamesIn(texts: readonly string[]): readonly string[] {
  return [...new Set(texts.flatMap(namesIn).filter((name) => !SYSTEM_NAMES.has(name)))];
}

/** Why a text with variables cannot be used; undefined if it can. */
export function placeholderFault(text: string): string | undefined {
  for (const [, name = "", fallback] of text.matchAll(PLACEHOLDER)) {
    if (fallback !== undefined || SYSTEM_NAMES.has(name)) continue;
    return `{{${name}}} needs a default, such as {{${name}|there}}: not every call has a value for it`;
  }
  // A blank keeps the braces on both sides of a variable apart.
  if (!hasBraces(text.replace(PLACEHOLDER, " "))) return undefined;
  return `expected {{ and }} only around a name of a letter and up to 39 letters, digits and underscores, with a default of at most ${DEFAULT_CHARACTERS_MAX} characters, such as {{firstName|there}}; a blank between two other braces keeps them`;
}
