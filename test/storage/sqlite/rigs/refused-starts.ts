import { join } from "node:path";
import * as v from "valibot";
import { asStartError, StartError } from "../../../../api/start-up/start-error.js";
import { DATABASE_FILE, parseConfig } from "../../../../config.js";
import { newLogger } from "../../../../engine/log.js";
import { startParley } from "../../../../parley.js";

/**
 * A program that repeatedly receives settings from its parent, and returns the message that an operator would see at a
 * start with them.
 */
const question = v.object({ id: v.number(), environment: v.record(v.string(), v.string()) });

async function refusalOf(environment: Readonly<Record<string, string>>): Promise<string> {
  const config = parseConfig(environment);
  try {
    const parley = await startParley({ ...config, workers: 1 }, newLogger(config.logLevel));
    await parley.stop(0);
    return "it started";
  } catch (error) {
    const fault = asStartError(error, join(config.dataDir, DATABASE_FILE));
    return fault instanceof StartError ? fault.message : `no fault of a start: ${String(fault)}`;
  }
}

process.on("message", (message) => {
  const { id, environment } = v.parse(question, message);
  void refusalOf(environment).then((refusal) => process.send?.({ id, refusal }));
});
process.send?.("ready");
