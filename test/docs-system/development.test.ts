import { testCommandsOf } from "./page-commands.js";

testCommandsOf("docs/development.md");
