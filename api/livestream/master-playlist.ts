// By hand, since two attributes of one tag are read, and none is believed that leaves the stream's folder.
import type { Quality } from "./stream-registry.js";

/** More rungs than any ladder has. */
export const QUALITIES_MAX = 16;

const STREAM_LINE = "#EXT-X-STREAM-INF:";
/** `NAME=value` or `NAME="value"`; commas within quotes belong to the value. */
const ATTRIBUTE = /([A-Z0-9-]+)=(?:"([^"]*)"|([^",]*))/g;
const RESOLUTION = /^(\d{1,5})x(\d{1,5})$/;
const BANDWIDTH = /^\d{1,10}$/;
/** Within the stream's folder: no scheme, no slash in front, no segment that begins with a dot. */
const PATH = /^(?:[A-Za-z0-9_-][A-Za-z0-9_.-]{0,63}\/){0,3}[A-Za-z0-9_-][A-Za-z0-9_.-]{0,63}$/;

/** The rungs of a master playlist (RFC 8216), in its order. Lines that cannot be read are left out: a player decides on its own. */
export function parseMasterPlaylist(text: string): readonly Quality[] {
  const lines = text.split(/\r?\n/);
  const qualities: Quality[] = [];
  for (const [index, line] of lines.entries()) {
    if (!line.startsWith(STREAM_LINE)) continue;
    const quality = qualityOf(line.slice(STREAM_LINE.length), lines[index + 1] ?? "");
    if (quality !== undefined) qualities.push(quality);
    if (qualities.length === QUALITIES_MAX) break;
  }
  return qualities;
}

function qualityOf(attributeText: string, path: string): Quality | undefined {
  const attributes = new Map(
    Array.from(attributeText.matchAll(ATTRIBUTE), ([, name = "", quoted, plain = ""]) => [
      name,
      quoted ?? plain,
    ]),
  );
  const bandwidth = attributes.get("BANDWIDTH") ?? "";
  if (!BANDWIDTH.test(bandwidth) || !PATH.test(path)) return undefined;
  const [, width = "0", height = "0"] = RESOLUTION.exec(attributes.get("RESOLUTION") ?? "") ?? [];
  const size = { width: Number(width), height: Number(height) };
  return { name: nameOf(path, size.height), ...size, bandwidth: Number(bandwidth), path };
}

/** The ladder keeps each rung in a folder of its name. */
function nameOf(path: string, height: number): string {
  const folder = path.includes("/") ? path.split("/")[0] : undefined;
  return folder ?? (height === 0 ? "audio" : `${height}p`);
}
