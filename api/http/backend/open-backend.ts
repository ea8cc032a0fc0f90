import type { Logger } from "../../../engine/log.js";
import type { BackendChoice } from "../../../engine/settings.js";
import { ParleyError } from "../../../storage/parley-error.js";
import type { HttpBackend } from "./http-backend.js";
import { NodeBackend } from "./node-backend.js";
import { openUwsBackend } from "./uws-backend.js";

export function uwsLoads(): Promise<boolean> {
  return openUwsBackend().then(
    () => true,
    () => false,
  );
}

/** The message contains what an operator can do. */
export class BackendUnavailableError extends ParleyError {
  override readonly name = "BackendUnavailableError";
  readonly code = "backend_unavailable";
}

/**
 * Opens the requested backend. `auto` is uWebSockets.js, or node:http with a warning if uWebSockets.js has no binary.
 * Rejects with BackendUnavailableError if uWebSockets.js was requested by name and has no binary.
 */
export async function openBackend(choice: BackendChoice, log: Logger): Promise<HttpBackend> {
  if (choice === "node") return new NodeBackend();
  try {
    return await openUwsBackend();
  } catch {
    const here = `Node ${process.version} on ${process.platform} ${process.arch}`;
    if (choice === "uws") {
      throw new BackendUnavailableError(
        `HTTP_BACKEND=uws: uWebSockets.js has no binary that loads on ${here}; use Node 20 or 22 with glibc, or HTTP_BACKEND=node`,
      );
    }
    log.warn(
      { here },
      "uWebSockets.js does not load here: serving with node:http, which uses more CPU",
    );
    return new NodeBackend();
  }
}
