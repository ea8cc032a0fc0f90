import type { Readable } from "node:stream";

/** Far above the time between two lines of any documented command on a busy machine. */
const WAIT_MAX_MS = 90_000;

export interface AwaitedText {
  /** What has come and was not waited for. */
  readonly rest: string;
  /** Takes all up to the end of the first match. Rejects when the stream ends before it, or nothing comes for too long. */
  until(pattern: RegExp): Promise<RegExpExecArray>;
}

/** The text of a stream, to wait for words in it. `explain` tells of what went wrong beside it. */
export function awaitedText(stream: Readable, explain: () => string): AwaitedText {
  let rest = "";
  let hasEnded = false;
  let look = () => undefined as void;
  stream.setEncoding("utf8");
  stream.on("data", (piece: string) => {
    rest += piece;
    look();
  });
  stream.on("close", () => {
    hasEnded = true;
    look();
  });
  return {
    get rest() {
      return rest;
    },
    until: (pattern) =>
      new Promise((resolve, reject) => {
        const fail = (why: string) =>
          reject(new Error(`${why} before ${pattern}\n${rest}\n${explain()}`));
        let tooLate = AbortSignal.timeout(WAIT_MAX_MS);
        const giveUp = () => fail("nothing came in time");
        // A command that goes on printing is slow, and does not hang.
        const waitAnew = () => {
          tooLate.removeEventListener("abort", giveUp);
          tooLate = AbortSignal.timeout(WAIT_MAX_MS);
          tooLate.addEventListener("abort", giveUp);
        };
        stream.on("data", waitAnew);
        waitAnew();
        const settle = () => {
          stream.off("data", waitAnew);
          tooLate.removeEventListener("abort", giveUp);
          look = () => undefined;
        };
        look = () => {
          const found = pattern.exec(rest);
          if (found !== null) {
            rest = rest.slice(found.index + found[0].length);
            settle();
            resolve(found);
          } else if (hasEnded) {
            settle();
            fail("it ended");
          }
        };
        look();
      }),
  };
}
