import { CONSOLE_PATH } from "../http/endpoints/console-endpoints.js";

/**
 * Where the console is. `token`: of a user who is signed in by it, behind the `#`, which browsers send to nobody; the console
 * takes it out of the address bar at once.
 */
export function consoleAddress(serverUrl: string, token?: string): string {
  return `${serverUrl}${CONSOLE_PATH}${token === undefined ? "" : `#token=${token}`}`;
}
