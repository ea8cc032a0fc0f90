const BEGINNING = "<think>";
const END = "</think>";

/** Blanks before the first word are held back until it is known what it is; a reply of more of them is what it is. */
const LEADING_BLANKS_MAX_CHARS = 64;

/**
 * Takes the thoughts off a reply of a server that does not know them from words: those that it begins with, up to their end mark.
 * No more of them is kept than a piece of a mark. How long they go on is limited by the tokens of the request alone; a reply whose
 * thoughts have no end is empty.
 */
export class ThoughtFilter {
  #phase: "undecided" | "thinking" | "behind thoughts" | "speaking" = "undecided";
  #held = "";

  /** What is to be said of it, and of what was held back before. */
  take(text: string): string {
    switch (this.#phase) {
      case "undecided":
        return this.#decide(this.#held + text);
      case "thinking":
        return this.#skipThoughts(this.#held + text);
      case "behind thoughts":
        return this.#skipBlanks(text);
      case "speaking":
        return text;
    }
  }

  /** Nothing more comes: what is to be said of what was held back. */
  end(): string {
    return this.#phase === "undecided" ? this.#held : "";
  }

  #decide(text: string): string {
    const words = text.trimStart();
    if (words.startsWith(BEGINNING)) {
      this.#phase = "thinking";
      return this.#skipThoughts(words.slice(BEGINNING.length));
    }
    if (BEGINNING.startsWith(words) && text.length <= LEADING_BLANKS_MAX_CHARS) {
      this.#held = text;
      return "";
    }
    this.#phase = "speaking";
    return text;
  }

  #skipThoughts(text: string): string {
    const at = text.indexOf(END);
    if (at >= 0) {
      this.#phase = "behind thoughts";
      return this.#skipBlanks(text.slice(at + END.length));
    }
    // As much as may be a piece of a mark that was cut.
    this.#held = text.slice(-(END.length - 1));
    return "";
  }

  #skipBlanks(text: string): string {
    const words = text.trimStart();
    if (words !== "") this.#phase = "speaking";
    return words;
  }
}
