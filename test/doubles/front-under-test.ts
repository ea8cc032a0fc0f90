import { uwsLoads } from "../../api/http/backend/open-backend.js";
import type { FrontChoice } from "../../engine/settings.js";

/** The front end that tests serve with: the one that a server would choose on this Node, unless a file of `node-front` sets it. */
export const frontUnderTest: { choice: FrontChoice } = {
  choice: (await uwsLoads()) ? "auto" : "node",
};
