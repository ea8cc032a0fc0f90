import { readdirSync } from "node:fs";
import { frontUnderTest } from "../doubles/front-under-test.js";

/** Everything that is tested of HTTP, over node:http. */
frontUnderTest.choice = "node";
const folder = new URL("../api/http/", import.meta.url);
for (const name of readdirSync(folder).sort()) {
  if (name.endsWith(".test.js")) await import(new URL(name, folder).href);
}
