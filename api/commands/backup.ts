import { backupCommand } from "./backup-command.js";
import { runCommand } from "./command.js";
import { processTerminal } from "./terminal.js";

process.exitCode = await runCommand(backupCommand(), process.argv.slice(2), processTerminal());
