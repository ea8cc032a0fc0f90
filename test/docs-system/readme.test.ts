import { testCommandsOf } from "./page-commands.js";

testCommandsOf("README.md");
