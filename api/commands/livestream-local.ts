import { loadEnvFile } from "../../engine/settings.js";
import { runCommand } from "./command.js";
import { localCommand } from "./livestream-local/local-command.js";
import { processTerminal } from "./terminal.js";

/** npm passes a Ctrl-C on to a process that has had it from the terminal already: no second wish. */
const SAME_WISH_MS = 500;

const stop = new AbortController();
let stoppedMs = 0;
let killAll = (): void => undefined;

for (const signal of ["SIGINT", "SIGTERM"] as const) {
  process.on(signal, () => {
    if (!stop.signal.aborted) stoppedMs = performance.now();
    else if (performance.now() - stoppedMs > SAME_WISH_MS) process.exit(1);
    stop.abort();
  });
}
// The parts have groups of their own: nothing else would end them when this process ends by a fault.
process.on("exit", () => killAll());

loadEnvFile(process.env);
const command = localCommand({
  environment: process.env,
  stop: stop.signal,
  onKill: (kill) => {
    killAll = kill;
  },
});
process.exitCode = await runCommand(command, process.argv.slice(2), processTerminal());
