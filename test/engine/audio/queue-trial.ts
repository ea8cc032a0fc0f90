import { MP3, MULAW_8K } from "../../../engine/audio/audio-format.js";
import type { ConversionBatch, ConversionResult } from "../../../engine/audio/conversion-batch.js";
import {
  type ConversionPriority,
  ConversionQueue,
} from "../../../engine/audio/conversion-queue.js";
import { VirtualClock } from "../../doubles/virtual-clock.js";

export const FORMAT = { from: MP3, to: MULAW_8K };

interface Task {
  readonly batch: ConversionBatch;
  readonly signal: AbortSignal;
  readonly finish: (results: readonly ConversionResult[]) => void;
  readonly fail: (error: Error) => void;
}

/** A queue whose thread does what the test says. */
export function queueTrial() {
  const clock = new VirtualClock();
  const tasks: Task[] = [];
  const lost: unknown[] = [];
  const queue = new ConversionQueue(
    (batch, signal) => new Promise((finish, fail) => tasks.push({ batch, signal, finish, fail })),
    clock,
    (error) => lost.push(error),
  );
  const open = (priority: ConversionPriority = "speech", owner = "") => {
    const told: string[] = [];
    const errors: Error[] = [];
    const listener = {
      onAudio: (audio: Uint8Array) => told.push([...audio].join()),
      onEnd: () => told.push("end"),
      onFailed: (error: Error) => errors.push(error),
    };
    const conversion = queue.open(FORMAT, priority, listener, owner);
    return { conversion, told, errors };
  };
  /** The thread answers each step with its own bytes. */
  const echo = async () => {
    const task = tasks.at(-1);
    task?.finish(task.batch.steps.map(({ bytes }) => bytes));
    await new Promise(setImmediate);
  };
  const sizes = () => tasks.map(({ batch }) => batch.steps.length);
  return { clock, queue, tasks, lost, open, echo, sizes };
}
