import type { Logger } from "../../../engine/log.js";
import type { FrontChoice } from "../../../engine/settings.js";
import type { Front } from "./http-backend.js";
import { NodeFront } from "./node-backend.js";
import { openUwsFront } from "./uws-backend.js";

export function uwsLoads(): Promise<boolean> {
  return openUwsFront().then(
    () => true,
    () => false,
  );
}

/** The message says what an operator can do. */
export class FrontUnavailable extends Error {
  override readonly name = "FrontUnavailable";
}

/**
 * The front end that was asked for. `auto` is uWebSockets.js, or Node's own with a warning where that has no binary. Rejects
 * with FrontUnavailable when it has none and was asked for by name.
 */
export async function openFront(choice: FrontChoice, log: Logger): Promise<Front> {
  if (choice === "node") return new NodeFront();
  try {
    return await openUwsFront();
  } catch {
    const here = `Node ${process.version} on ${process.platform} ${process.arch}`;
    if (choice === "uws") {
      throw new FrontUnavailable(
        `HTTP_BACKEND=uws: uWebSockets.js has no binary that loads on ${here}; use Node 20 or 22 with glibc, or HTTP_BACKEND=node`,
      );
    }
    log.warn(
      { here },
      "uWebSockets.js does not load here: serving with node:http, which costs more",
    );
    return new NodeFront();
  }
}
