import type { FrontChoice } from "../../engine/settings.js";

/** What servers of tests are told to speak HTTP with. A file in `test/node-front/` sets it before it runs other files' tests. */
export const frontUnderTest: { choice: FrontChoice } = { choice: "auto" };
