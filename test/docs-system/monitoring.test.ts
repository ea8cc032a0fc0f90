import { testCommandsOf } from "./page-commands.js";

testCommandsOf("docs/operations/monitoring.md");
