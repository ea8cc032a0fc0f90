import { randomUUID } from "node:crypto";
import { stat } from "node:fs/promises";
import { ConfigError, readEnvironment } from "../../config.js";
import { newLogger } from "../../engine/log.js";
import { textOfFile } from "../../engine/settings.js";
import { SystemClock } from "../../engine/time/clock.js";
import { BackendUnavailableError } from "../http/backend/open-backend.js";
import { localUrl } from "../start-up/local-url.js";
import { type LiveStreamConfig, parseLiveStreamConfig } from "./livestream-config.js";
import { startLiveStream } from "./livestream-server.js";
import { PublishKeyError, publishKeyLines } from "./publish-keys.js";

const KEYS_FILE_BYTES_MAX = 4 * 1024 * 1024;

/** The live-stream state API as a process of its own; ends on SIGTERM or SIGINT. */
async function main(): Promise<void> {
  const config = parseLiveStreamConfig(readEnvironment());
  const log = newLogger(config.logLevel);
  const server = await startLiveStream({
    config,
    publishKeyLines: await publishKeyLinesOf(config),
    log,
    clock: new SystemClock(),
    newId: randomUUID,
  });
  const url = localUrl(config.host, server.port);
  process.stdout.write(`Live streams are listed on ${url}/streams\n`);
  for (const signal of ["SIGTERM", "SIGINT"] as const) {
    process.on(signal, () => {
      void server.stop().then(() => process.exit());
    });
  }
  process.on("unhandledRejection", (error) => {
    log.error({ error }, "unhandled promise rejection");
  });
}

/** An empty file is not the same as none: publishing is then forbidden. */
async function publishKeyLinesOf(config: LiveStreamConfig): Promise<readonly string[] | undefined> {
  const { publishKeys, publishKeysFile } = config;
  if (publishKeysFile === undefined) return publishKeys.length === 0 ? undefined : publishKeys;
  const { size } = await stat(publishKeysFile);
  if (size > KEYS_FILE_BYTES_MAX) {
    throw new PublishKeyError(`PUBLISH_KEYS_FILE: expected at most ${KEYS_FILE_BYTES_MAX} bytes`);
  }
  return [...publishKeys, ...publishKeyLines(textOfFile(publishKeysFile))];
}

main().catch((error: unknown) => {
  console.error(isForOperator(error) ? error.message : error);
  process.exit(1);
});

/** Errors of the settings, as opposed to bugs. */
function isForOperator(error: unknown): error is Error {
  return (
    error instanceof ConfigError ||
    error instanceof BackendUnavailableError ||
    error instanceof PublishKeyError
  );
}
