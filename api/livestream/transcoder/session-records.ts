import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import * as v from "valibot";
import { STREAM_KEY } from "../webhook-form.js";

const SessionRecord = v.object({
  session: v.string(),
  startedAtMs: v.number(),
  clientIp: v.optional(v.string()),
  rungs: v.array(v.string()),
});
/** What the next transcoder needs to know about a broadcast when this one is killed. */
export type SessionRecord = v.InferOutput<typeof SessionRecord>;

const SUFFIX = ".json";

/** One small file per broadcast, under RUN_DIR: nothing that must survive a reboot. */
export class SessionRecords {
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
    mkdirSync(folder, { recursive: true });
  }

  /** The streams that an earlier transcoder did not end. */
  keys(): readonly string[] {
    return readdirSync(this.#folder)
      .filter((name) => name.endsWith(SUFFIX))
      .map((name) => name.slice(0, -SUFFIX.length))
      .filter((streamKey) => STREAM_KEY.test(streamKey));
  }

  /** Undefined if there is none, or it is unreadable. */
  read(streamKey: string): SessionRecord | undefined {
    try {
      return v.parse(SessionRecord, JSON.parse(readFileSync(this.#path(streamKey), "utf8")));
    } catch {
      return undefined;
    }
  }

  write(streamKey: string, record: SessionRecord): void {
    const path = this.#path(streamKey);
    writeFileSync(`${path}.tmp`, JSON.stringify(record));
    renameSync(`${path}.tmp`, path);
  }

  forget(streamKey: string): void {
    rmSync(this.#path(streamKey), { force: true });
  }

  #path(streamKey: string): string {
    return join(this.#folder, streamKey + SUFFIX);
  }
}
