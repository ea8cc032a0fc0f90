import { testCommandsOf } from "./page-commands.js";

testCommandsOf("docs/guides/api-keys.md");
