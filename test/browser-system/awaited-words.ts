import { inTime } from "../livestream-system/in-time.js";

export interface AwaitedWords {
  readonly text: string;
  add(word: string): void;
  /** Resolves when all words received so far match; rejects if they do not in time. */
  until(pattern: RegExp): Promise<void>;
}

export function awaitedWords(): AwaitedWords {
  const words: string[] = [];
  let look = () => {};
  return {
    get text() {
      return words.join(" ");
    },
    add: (word) => {
      words.push(word);
      look();
    },
    until: async (pattern) => {
      const matched = new Promise<void>((resolve) => {
        look = () => {
          if (pattern.test(words.join(" "))) resolve();
        };
        look();
      });
      await inTime(matched, `${pattern}`).catch((error: unknown) => {
        throw new Error(`after ${words.join(" ")}`, { cause: error });
      });
    },
  };
}
