import { uwsLoads } from "../../api/http/backend/open-backend.js";
import type { BackendChoice } from "../../engine/settings.js";

/** The front end that tests serve with: the one that a server would choose on this Node, unless a file of `node-front` sets it. */
export const frontUnderTest: { choice: BackendChoice } = {
  choice: (await uwsLoads()) ? "auto" : "node",
};
