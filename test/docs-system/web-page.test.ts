import { testCommandsOf } from "./page-commands.js";

testCommandsOf("docs/guides/web-page.md");
