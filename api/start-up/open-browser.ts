import { spawn } from "node:child_process";

/** What each system opens an address with; `start` is a word of Windows' shell, whose first quoted argument is a title. */
const OPENERS: Partial<Record<NodeJS.Platform, readonly [command: string, ...args: string[]]>> = {
  darwin: ["open"],
  win32: ["cmd", "/c", "start", '""'],
};

const OPEN_FLAG = "--open";

/**
 * Shows the address in the person's browser when `npm start -- --open` asks for it. A machine without a browser says nothing:
 * the address is printed anyway.
 */
export function openIfAsked(programArguments: readonly string[], address: string): void {
  if (!programArguments.includes(OPEN_FLAG)) return;
  const [command, ...args] = OPENERS[process.platform] ?? ["xdg-open"];
  const opener = spawn(command, [...args, address], { detached: true, stdio: "ignore" });
  opener.on("error", () => {});
  opener.unref();
}
