import { testCommandsOf } from "./page-commands.js";

testCommandsOf("docs/web-page.md");
