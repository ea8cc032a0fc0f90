import { testCommandsOf } from "./page-commands.js";

testCommandsOf("docs/operations/live-streams.md");
