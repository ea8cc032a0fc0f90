import { testCommandsOf } from "./page-commands.js";

testCommandsOf("docs/api-keys.md");
