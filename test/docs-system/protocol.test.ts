import { testCommandsOf } from "./page-commands.js";

testCommandsOf("docs/reference/protocol.md");
