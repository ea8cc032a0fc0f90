import { callCommand } from "./call/call-command.js";
import { runCommand } from "./command.js";
import { processTerminal } from "./terminal.js";

const hangUp = new AbortController();
// A second Ctrl-C finds no listener and ends the process.
process.once("SIGINT", () => hangUp.abort());
const command = callCommand({ hangUp: hangUp.signal });
process.exitCode = await runCommand(command, process.argv.slice(2), processTerminal());
