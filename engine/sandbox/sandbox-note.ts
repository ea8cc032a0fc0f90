import { readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import * as v from "valibot";

const NOTE_FILE = "sandbox.json";

const SandboxNote = v.object({
  /** Where the server listens that the sandbox belongs to. */
  serverUrl: v.string(),
  /** Where the simulated Twilio answers its REST API. */
  twilioUrl: v.string(),
  /** Where the sandbox's faults and journal are. */
  deskUrl: v.string(),
});
/** Where the sandbox of a running server is, for other processes on its machine; kept in the data folder. */
export type SandboxNote = Readonly<v.InferOutput<typeof SandboxNote>>;

export async function writeSandboxNote(dataDir: string, note: SandboxNote): Promise<void> {
  await writeFile(join(dataDir, NOTE_FILE), `${JSON.stringify(note, undefined, 2)}\n`);
}

export async function removeSandboxNote(dataDir: string): Promise<void> {
  await rm(join(dataDir, NOTE_FILE), { force: true });
}

/** Undefined where no server with a sandbox runs on this data folder; a server that was killed leaves its note behind. */
export async function readSandboxNote(dataDir: string): Promise<SandboxNote | undefined> {
  try {
    return v.parse(SandboxNote, JSON.parse(await readFile(join(dataDir, NOTE_FILE), "utf8")));
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return undefined;
    throw error;
  }
}
