import { testCommandsOf } from "./page-commands.js";

testCommandsOf("docs/protocol.md");
