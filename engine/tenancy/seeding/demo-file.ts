import { open, readFile, rename } from "node:fs/promises";
import { join } from "node:path";
import * as v from "valibot";
import { writtenText } from "../../settings.js";

const DEMO_FILE = "demo.json";
const Demo = v.object({
  email: v.string(),
  password: v.string(),
  apiKey: v.string(),
  agentId: v.optional(v.string()),
});
/** The credentials for a first call. The file is in the data folder and only its owner can read it. */
export type Demo = Readonly<v.InferOutput<typeof Demo>>;

/** Returns undefined if this data folder never had a demo organization. */
export async function readDemo(dataDir: string): Promise<Demo | undefined> {
  try {
    return v.parse(
      Demo,
      JSON.parse(writtenText(await readFile(join(dataDir, DEMO_FILE)), DEMO_FILE)),
    );
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return undefined;
    throw error;
  }
}

/** Writes the file atomically and syncs it to disk before anything is created with it. Returns what was written. */
export async function writeDemo(dataDir: string, demo: Demo): Promise<Demo> {
  const path = join(dataDir, DEMO_FILE);
  const file = await open(`${path}.new`, "w", 0o600);
  try {
    await file.writeFile(`${JSON.stringify(demo, undefined, 2)}\n`);
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(`${path}.new`, path);
  return demo;
}
