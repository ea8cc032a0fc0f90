import { join } from "node:path";
import { workerCount } from "./api/cluster/worker-process-count.js";
import { announce, banner } from "./api/start-up/announcement.js";
import { consoleAddress } from "./api/start-up/console-address.js";
import { openHealthPort } from "./api/start-up/health-port.js";
import { localUrl } from "./api/start-up/local-url.js";
import { openIfAsked } from "./api/start-up/open-browser.js";
import { asStartError, StartError } from "./api/start-up/start-error.js";
import { ConfigError, DATABASE_FILE, readConfig } from "./config.js";
import { newLogger } from "./engine/log.js";
import { startParley, startServerWithWorkers } from "./parley.js";

async function main(): Promise<void> {
  const config = readConfig();
  const log = newLogger(config.logLevel);
  const workers = await workerCount(config, log);
  const start = workers > 1 ? startServerWithWorkers : startParley;
  const parley = await start({ ...config, workers }, log).catch((error: unknown) => {
    throw asStartError(error, join(config.dataDir, DATABASE_FILE));
  });
  const { host, healthPort } = config;
  const serverUrl = localUrl(host, parley.port);
  if (healthPort > 0) {
    await openHealthPort({ host, port: healthPort, serverUrl }).catch(async (error: unknown) => {
      await parley.stop(0);
      throw asStartError(error, join(config.dataDir, DATABASE_FILE));
    });
  }
  if (config.isProduction) announce(config, parley, log);
  else process.stdout.write(banner(config, parley));
  openIfAsked(process.argv, consoleAddress(serverUrl, parley.demoToken));
  let signalCount = 0;
  const onSignal = () => {
    signalCount += 1;
    // A second signal is an operator who does not want to wait for the calls.
    if (signalCount > 1) parley.endAll();
    void parley.stop().then(() => process.exit());
  };
  process.on("SIGTERM", onSignal);
  process.on("SIGINT", onSignal);
  process.on("unhandledRejection", (error) => {
    log.error({ error }, "unhandled promise rejection");
  });
}

main().catch((error: unknown) => {
  // Any other is a bug, whose stack is worth having.
  const isOperatorsToMend = error instanceof ConfigError || error instanceof StartError;
  console.error(isOperatorsToMend ? error.message : error);
  process.exit(1);
});
