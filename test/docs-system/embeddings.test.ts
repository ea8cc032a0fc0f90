import { testCommandsOf } from "./page-commands.js";

testCommandsOf("docs/guides/embeddings.md");
