import * as v from "valibot";
import type { VendorFault } from "../contracts.js";
import type { Heard, MessageReader } from "../recognizer-stream/recognizer-dialect.js";
import { tryParse } from "../vendor-json.js";

const wireSchema = v.looseObject({ type: v.string() });

/** Times are milliseconds of the session's audio. */
const turnSchema = v.object({
  turn_order: v.number(),
  end_of_turn: v.boolean(),
  transcript: v.string(),
  words: v.optional(
    v.array(v.object({ text: v.string(), start: v.number(), end: v.number() })),
    [],
  ),
});

const errorSchema = v.object({
  error_code: v.optional(v.number()),
  error: v.optional(v.string()),
});

/** Keeps the open turn of one socket, so that no word of it is lost with the socket. */
export class AssemblyAiReader implements MessageReader {
  readonly #faultOf: (code: number, reason: string) => VendorFault;
  #openOrder: number | undefined;
  #endedOrder = -1;
  #text = "";
  #startSec = 0;
  #endSec = 0;
  #isVoiceTold = false;

  constructor(faultOf: (code: number, reason: string) => VendorFault) {
    this.#faultOf = faultOf;
  }

  read(text: string): readonly Heard[] | undefined {
    const message = tryParse(wireSchema, text)?.value;
    switch (message?.type) {
      case undefined:
        return undefined;
      case "Turn":
        return this.#readTurn(message);
      case "SpeechStarted":
        this.#isVoiceTold = true;
        return [{ kind: "speechStarted" }];
      case "Error": {
        const parsed = v.safeParse(errorSchema, message);
        const { error_code = 3005, error = "no reason given" } = parsed.success
          ? parsed.output
          : {};
        const detail = { code: String(error_code), message: error };
        return [{ kind: "error", fault: this.#faultOf(error_code, error), detail }];
      }
      default:
        return [];
    }
  }

  lost(heldFromSec: number): readonly Heard[] {
    const text = this.#text;
    // A turn that is kept whole is heard again as a whole.
    if (text === "" || this.#startSec >= heldFromSec) return [];
    this.#text = "";
    const lastWordEndSec = this.#endSec;
    return [
      { kind: "settled", sec: lastWordEndSec },
      { kind: "words", text, isFinal: true, speechFinal: false, lastWordEndSec },
    ];
  }

  #readTurn(message: unknown): readonly Heard[] | undefined {
    const parsed = v.safeParse(turnSchema, message);
    if (!parsed.success) return undefined;
    const { turn_order, end_of_turn, transcript, words } = parsed.output;
    // The end may be told a second time, with the text formatted.
    if (turn_order <= this.#endedOrder) return [];
    // The transcript of an open turn lacks the words that may still change.
    const heard = words.map((word) => word.text).join(" ");
    const text = (end_of_turn || heard === "" ? transcript : heard).trim();
    if (text === "") return [{ kind: "wordless" }];
    const told: Heard[] = [];
    if (this.#openOrder !== turn_order) {
      this.#openOrder = turn_order;
      if (!this.#isVoiceTold) told.push({ kind: "speechStarted" });
      told.push({ kind: "turn", mark: "startOfTurn", text });
    }
    this.#text = text;
    this.#startSec = (words[0]?.start ?? 0) / 1_000;
    this.#endSec = (words.at(-1)?.end ?? 0) / 1_000;
    const lastWordEndSec = words.length === 0 ? undefined : this.#endSec;
    const said = { kind: "words", text, speechFinal: false, lastWordEndSec } as const;
    if (!end_of_turn) return [...told, { ...said, isFinal: false }];
    this.#endedOrder = turn_order;
    this.#text = "";
    this.#isVoiceTold = false;
    return [
      ...told,
      { kind: "settled", sec: this.#endSec },
      { ...said, isFinal: true },
      { kind: "turn", mark: "endOfTurn", text },
    ];
  }
}
