import { Caller } from "../../engine/sandbox/caller.js";
import type { Received } from "../../engine/sandbox/caller-events.js";
import { encodeSpeech } from "../../engine/sandbox/telephone/tone-code.js";
import { comparedWords } from "./compared-words.js";
import type { FaultRow } from "./fault-rows.js";
import { type FaultStand, startFaultStand } from "./fault-stand.js";
import { takeUsualTurns } from "./usual-turns.js";

/** Longer than any chain takes; a turn that is not over by then is lost. */
const TURN_MAX_MS = 25_000;
const RATE_HZ = 16_000;
/** After so many words of some eighteen the first ones are longer ago than what a recognizer that connects anew hears again. */
const UTTERED_WORDS = 13;

const SHORT_SAYINGS = [
  "say the first table is free. Come at noon.",
  "say the second one is taken. Come later.",
  "say the third is yours. Tell us your name.",
] as const;

/** A recognizer that hears nothing is found out by some seconds of voice. */
const LONG_SAYINGS = [
  "say the first table by the window is free. You may come whenever you like, and stay as long as you want to.",
  "say the second table in the garden is taken. It will be free again tomorrow evening, if it does not rain.",
  "say the third table is the one that you had. Please tell us your name, so that we can keep it for you.",
] as const;

export interface TrialResult {
  readonly row: FaultRow;
  readonly isLost: boolean;
  /** Silence before and in the worst reply, beyond that of a turn without a fault. */
  readonly extraMs: number;
  /** The words are the caller's and the reply's, counted at the ends of the line. */
  readonly wordsLost: number;
  readonly wordsTwice: number;
  readonly wordsBrokenOff: number;
}

interface Turn {
  /** From the caller's last sound to the end of the reply, without the time that its words take. */
  readonly silenceMs: number;
  readonly isLost: boolean;
  readonly wordsLost: number;
  readonly wordsTwice: number;
  readonly wordsBrokenOff: number;
}

const LOST: Turn = {
  silenceMs: TURN_MAX_MS,
  isLost: true,
  wordsLost: 0,
  wordsTwice: 0,
  wordsBrokenOff: 0,
};

export interface TrialOptions {
  /** The silence of a turn without any fault. */
  readonly healthyMs: number;
  readonly isAlone: boolean;
  /** So many calls at once are struck. */
  readonly calls: number;
}

/** Calls of three turns under this fault, on a server that has had calls that went well; a result for each. */
export async function tryFault(
  row: FaultRow,
  { healthyMs, isAlone, calls }: TrialOptions,
): Promise<readonly TrialResult[]> {
  const stand = await startFaultStand(isAlone);
  try {
    await takeUsualTurns(stand);
    const strike = () => Object.assign(stand.sandbox.faults, row.faults);
    if (row.stage === "before the call") strike();
    const sayings = row.kind === "stt" ? LONG_SAYINGS : SHORT_SAYINGS;
    const isInUtterance = row.stage === "in an utterance";
    const struck = Array.from({ length: calls }, () =>
      turnsOf(stand, sayings, { strike, isInUtterance }),
    );
    return (await Promise.all(struck)).map((turns) => resultOf(row, turns, healthyMs));
  } finally {
    await stand.close();
  }
}

function resultOf(row: FaultRow, turns: readonly Turn[], healthyMs: number): TrialResult {
  const sum = (count: (turn: Turn) => number) => turns.reduce((all, one) => all + count(one), 0);
  return {
    row,
    isLost: turns.some(({ isLost }) => isLost),
    extraMs: Math.max(0, Math.round(Math.max(...turns.map((one) => one.silenceMs)) - healthyMs)),
    wordsLost: sum(({ wordsLost }) => wordsLost),
    wordsTwice: sum(({ wordsTwice }) => wordsTwice),
    wordsBrokenOff: sum(({ wordsBrokenOff }) => wordsBrokenOff),
  };
}

/** The silence of a turn when nothing fails: the median of a few. */
export async function healthySilenceMs(): Promise<number> {
  const stand = await startFaultStand(false);
  try {
    await takeUsualTurns(stand);
    const turns = await turnsOf(stand, SHORT_SAYINGS, {
      strike: () => undefined,
      isInUtterance: false,
    });
    return turns.map(({ silenceMs }) => silenceMs).toSorted((a, b) => a - b)[1] ?? 0;
  } finally {
    await stand.close();
  }
}

interface Strike {
  readonly strike: () => void;
  readonly isInUtterance: boolean;
}

async function turnsOf(
  stand: FaultStand,
  sayings: readonly string[],
  { strike, isInUtterance }: Strike,
): Promise<readonly Turn[]> {
  const { url, apiKey, agentId } = stand;
  const caller = await Caller.connect({ url, apiKey, agentId, stream: "pcm24k" }).catch(
    () => undefined,
  );
  if (caller === undefined) return [LOST];
  const turns: Turn[] = [];
  try {
    for (const [index, saying] of sayings.entries()) {
      const speaking = isInUtterance && index === 1 ? strike : undefined;
      turns.push(await turnOf(caller, saying, speaking).catch(() => LOST));
      if (!isInUtterance) strike();
      if (turns.at(-1)?.isLost === true) break;
    }
  } finally {
    await caller.hangUp();
  }
  return turns;
}

/** `speaking` is called in the midst of what the caller says. */
async function turnOf(caller: Caller, saying: string, speaking?: () => void): Promise<Turn> {
  const from = caller.events.length;
  const saidAll = caller.say(saying);
  if (speaking !== undefined) {
    await caller.until((event) => guessedWords(event) >= UTTERED_WORDS, TURN_MAX_MS);
    speaking();
  }
  const { endNs } = await saidAll;
  const end = await caller.until(
    ({ type }) => type === "audioEnd" || type === "closed" || type === "error",
    TURN_MAX_MS,
  );
  if (end.type !== "audioEnd") return LOST;
  const expected = saying.replace(/^say /, "");
  const spokenMs = (encodeSpeech(expected, RATE_HZ).length * 1_000) / RATE_HZ;
  const reply = (await caller.playedReplies()).at(-1)?.text ?? "";
  const understood = caller.events.slice(from).flatMap(wordsOfCaller).join(" ");
  const heard = comparedWords(expected, reply);
  const taken = comparedWords(saying, understood);
  return {
    silenceMs: Number(end.atNs - endNs) / 1e6 - spokenMs,
    isLost: false,
    wordsLost: heard.lost + taken.lost,
    wordsTwice: heard.twice + taken.twice,
    wordsBrokenOff: heard.brokenOff + taken.brokenOff,
  };
}

function guessedWords(event: Received): number {
  if (event.type !== "transcript" || event.payload.role !== "user") return 0;
  return event.payload.text.split(" ").length;
}

function wordsOfCaller(event: Received): readonly string[] {
  if (event.type !== "transcript" || event.payload.role !== "user") return [];
  return event.payload.isFinal ? [event.payload.text] : [];
}
