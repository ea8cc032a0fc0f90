import { openApiDocument } from "./openapi.js";

let written: Buffer | undefined;

/**
 * The document as JSON; the servers of one process share it. The build puts the text in place of this module: writing it
 * took a fifth of the CPU of a server's start.
 */
export function openApiJson(): Buffer {
  written ??= Buffer.from(JSON.stringify(openApiDocument()));
  return written;
}
