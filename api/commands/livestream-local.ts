import { loadEnvFile } from "../../engine/settings.js";
import { runCommand } from "./command.js";
import { localCommand } from "./livestream-local/local-command.js";
import { processTerminal } from "./terminal.js";

/** npm forwards a Ctrl-C that this process has already received from the terminal: do not count it as a second one. */
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
// The parts have process groups of their own: nothing else would end them when this process crashes.
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
