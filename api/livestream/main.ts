import { randomUUID } from "node:crypto";
import { ConfigFault, readEnvironment } from "../../config.js";
import { newLogger } from "../../engine/log.js";
import { SystemClock } from "../../engine/time/clock.js";
import { parseLiveStreamConfig } from "./livestream-config.js";
import { startLiveStream } from "./livestream-server.js";

/** The live-stream state API as a process of its own; ends on SIGTERM or SIGINT. */
async function main(): Promise<void> {
  const config = parseLiveStreamConfig(readEnvironment());
  const log = newLogger(config.logLevel);
  const server = await startLiveStream({
    config,
    log,
    clock: new SystemClock(),
    newId: randomUUID,
  });
  const host = config.host === "0.0.0.0" ? "127.0.0.1" : config.host;
  process.stdout.write(`Live streams are listed on http://${host}:${server.port}/streams\n`);
  for (const signal of ["SIGTERM", "SIGINT"] as const) {
    process.on(signal, () => {
      void server.stop().then(() => process.exit());
    });
  }
  process.on("unhandledRejection", (error) => {
    log.error({ error }, "a promise was rejected and nobody waited for it; the service goes on");
  });
}

main().catch((error: unknown) => {
  console.error(error instanceof ConfigFault ? error.message : error);
  process.exit(1);
});
