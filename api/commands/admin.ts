import { adminCommand } from "./admin-command.js";
import { runCommand } from "./command.js";
import { processTerminal } from "./terminal.js";

process.exitCode = await runCommand(adminCommand(), process.argv.slice(2), processTerminal());
