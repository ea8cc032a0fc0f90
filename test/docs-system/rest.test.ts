import { testCommandsOf } from "./page-commands.js";

testCommandsOf("docs/reference/rest.md");
