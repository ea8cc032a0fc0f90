import { testCommandsOf } from "./page-commands.js";

testCommandsOf("docs/contributing/sandbox.md");
