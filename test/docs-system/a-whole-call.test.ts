import { testCommandsOf } from "./page-commands.js";

testCommandsOf("docs/guides/a-whole-call.md");
