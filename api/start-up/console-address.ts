import { CONSOLE_PATH } from "../http/endpoints/console-endpoints.js";

/**
 * The console's address. `token`: of a user who is signed in by it, behind the `#`, which browsers send to no server;
 * the console removes it from the address bar at once.
 */
export function consoleAddress(serverUrl: string, token?: string): string {
  return `${serverUrl}${CONSOLE_PATH}${token === undefined ? "" : `#token=${token}`}`;
}
