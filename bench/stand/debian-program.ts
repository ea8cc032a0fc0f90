import { findProgram } from "../../api/commands/livestream-local/debian-packages.js";

/** The full path of a program that .ci/run installs; throws where it is missing. */
export function debianProgram(name: string): string {
  const path = findProgram(name, process.env["PATH"] ?? "");
  if (path === undefined) throw new Error(`${name} is missing: .ci/run lists Debian's packages`);
  return path;
}
