import { readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import * as v from "valibot";

const NOTE_FILE = "sandbox.json";

const SandboxNote = v.object({
  /** The address of the server that the sandbox belongs to. */
  serverUrl: v.string(),
  /** The address of the simulated Twilio's REST API. */
  twilioUrl: v.string(),
  /** The address of the sandbox's faults and journal. */
  deskUrl: v.string(),
});
/** The addresses of a running server's sandbox, for other processes on its machine; stored in the data folder. */
export type SandboxNote = Readonly<v.InferOutput<typeof SandboxNote>>;

export async function writeSandboxNote(dataDir: string, note: SandboxNote): Promise<void> {
  await writeFile(join(dataDir, NOTE_FILE), `${JSON.stringify(note, undefined, 2)}\n`);
}

export async function removeSandboxNote(dataDir: string): Promise<void> {
  await rm(join(dataDir, NOTE_FILE), { force: true });
}

/** Undefined if no server with a sandbox runs on this data folder; a killed server leaves its note behind. */
export async function readSandboxNote(dataDir: string): Promise<SandboxNote | undefined> {
  try {
    return v.parse(SandboxNote, JSON.parse(await readFile(join(dataDir, NOTE_FILE), "utf8")));
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return undefined;
    throw error;
  }
}
