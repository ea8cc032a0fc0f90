import { testCommandsOf } from "./page-commands.js";

testCommandsOf("docs/telephony.md");
