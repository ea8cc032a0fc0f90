import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { wavHeader } from "../../../../engine/calls/recording/recording-file.js";
import {
  Recordings,
  type RecordingsOptions,
} from "../../../../engine/calls/recording/recordings.js";
import type { RecordingKey, RecordingStore } from "../../../../storage/calls/recording-store.js";
import { RecordingLogger } from "../../../doubles/recording-logger.js";
import { VirtualClock } from "../../../doubles/virtual-clock.js";
import { temporaryFile } from "../../../storage/temporary-file.js";

/** Recordings on a store that records its requests and has as many rows as the test says. */
export function newRecordings(
  changes: Partial<RecordingStore> = {},
  more: Partial<RecordingsOptions> = {},
) {
  const dataDir = dirname(temporaryFile());
  const clock = new VirtualClock();
  const log = new RecordingLogger();
  const asked: unknown[] = [];
  const note = (...of: readonly unknown[]) => Promise.resolve(void asked.push(of));
  // Only what is called.
  const store = {
    start: (...given: readonly unknown[]) => note("start", ...given),
    finish: (...given: readonly unknown[]) => note("finish", ...given),
    remove: ({ callId }: RecordingKey) => note("remove", callId),
    isFinished: () => Promise.resolve(true),
    listExpired: () => Promise.resolve([]),
    listUnfinished: () => Promise.resolve([]),
    ...changes,
  } as unknown as RecordingStore;
  const audioPool: RecordingsOptions["audioPool"] = () => ({
    convert: () => Promise.reject(new Error("no MP3 here")),
    open: () => assert.fail("nothing here has another rate"),
  });
  const recordings = new Recordings({ dataDir, store, audioPool, clock, log, ...more });
  const pathOf = (callId: string) => join(dataDir, "recordings", "org", `${callId}.wav`);
  /** A file of this many bytes of audio under that name. */
  const leave = (name: string, soundBytes: number) => {
    mkdirSync(dirname(pathOf("")), { recursive: true });
    writeFileSync(name, Buffer.concat([wavHeader(8_000, 0), Buffer.alloc(soundBytes)]));
  };
  return { recordings, clock, log, asked, pathOf, leave };
}
