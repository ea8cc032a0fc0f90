import { testCommandsOf } from "./page-commands.js";

testCommandsOf("docs/live-streams.md");
