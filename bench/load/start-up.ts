import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { median } from "../quantile.js";
import { BenchProcess, SERVER_CORE } from "../stand/child-process.js";
import { serverEnvironment, type VendorStand } from "../stand/stand.js";

export interface StartUpResult {
  /** With an empty data folder: keys, database and demo organization are made. */
  readonly freshMs: number;
  readonly againMs: number;
  /** The relay, which is Node, `ws` and valibot: what any server of this kind costs on this machine. */
  readonly referenceMs: number;
}

/** From the start of the process to the first answer of its health page, the median of `repeats`. */
export async function measureStartUp(
  { urls }: VendorStand,
  repeats: number,
): Promise<StartUpResult> {
  const fresh: number[] = [];
  const again: number[] = [];
  const reference: number[] = [];
  for (let repeat = 0; repeat < repeats; repeat += 1) {
    const dataDir = await mkdtemp(join(tmpdir(), "parley-bench-"));
    const env = serverEnvironment(dataDir, urls);
    fresh.push(await timeStart("../main.js", env, "/api/health"));
    again.push(await timeStart("../main.js", env, "/api/health"));
    await rm(dataDir, { recursive: true, force: true });
    const relay = { DEEPGRAM_URL: urls.deepgram, OPENAI_BASE_URL: urls.openai };
    reference.push(await timeStart("load/reference-relay.js", relay, "/"));
  }
  return { freshMs: median(fresh), againMs: median(again), referenceMs: median(reference) };
}

async function timeStart(
  script: string,
  env: Readonly<Record<string, string>>,
  path: string,
): Promise<number> {
  const startMs = performance.now();
  const readyPattern = /listens on (\S+)/;
  const process = await BenchProcess.start({ script, env, core: SERVER_CORE, readyPattern });
  const answer = await fetch(`${process.ready}${path}`);
  await answer.arrayBuffer();
  const durationMs = performance.now() - startMs;
  await process.stop();
  return durationMs;
}
