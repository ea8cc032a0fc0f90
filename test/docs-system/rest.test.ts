import { testCommandsOf } from "./page-commands.js";

testCommandsOf("docs/rest.md");
