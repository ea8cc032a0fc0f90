import { testCommandsOf } from "./page-commands.js";

testCommandsOf("docs/guides/call-lists.md");
