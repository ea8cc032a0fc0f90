import { testCommandsOf } from "./page-commands.js";

testCommandsOf("docs/tools.md");
