import { appendFileSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { getEnvironmentData, setEnvironmentData } from "node:worker_threads";
import * as v from "valibot";

/**
 * Which mutant of a build is on: every module of it asks here. Lies in the build with it, where each process and thread that
 * loads a part of the build finds it, whatever environment it was given.
 */
const STATE_PATH = fileURLToPath(new URL("./mutant-switch.json", import.meta.url));
const REACHED_PATH = fileURLToPath(new URL("./mutants-reached.txt", import.meta.url));
const ENVIRONMENT_KEY = "parley-mutants";
const ACTIVE_BYTES = Int32Array.BYTES_PER_ELEMENT;

const stateText = v.pipe(
  v.string(),
  v.parseJson(),
  v.object({ count: v.number(), active: v.number(), isTold: v.boolean() }),
);

const state = v.parse(stateText, readFileSync(STATE_PATH, "utf8"));
const memory = sharedMemory();
const active = new Int32Array(memory, 0, 1);
const reached = new Uint8Array(memory, ACTIVE_BYTES);

/** All threads of a process share what is on and what was reached. */
function sharedMemory(): SharedArrayBuffer {
  const inherited = getEnvironmentData(ENVIRONMENT_KEY);
  if (inherited instanceof SharedArrayBuffer) return inherited;
  const made = new SharedArrayBuffer(ACTIVE_BYTES + state.count);
  new Int32Array(made, 0, 1)[0] = state.active;
  setEnvironmentData(ENVIRONMENT_KEY, made);
  return made;
}

/**
 * Asked by a module at each place that has a mutant.
 * @public for the modules that `switchedSource` writes.
 */
export function isOn(number: number): boolean {
  if (reached[number] === 0) note(number);
  return number === active[0];
}

function note(number: number): void {
  reached[number] = 1;
  // A process that is killed has written it, too.
  if (state.isTold) appendFileSync(REACHED_PATH, `${number}\n`);
}

/** For this process and its threads. */
export function switchOn(number: number): void {
  active[0] = number;
}

export function forgetReached(): void {
  reached.fill(0);
}

export function reachedMutants(): readonly number[] {
  return [...reached.keys()].filter((number) => reached[number] === 1);
}
