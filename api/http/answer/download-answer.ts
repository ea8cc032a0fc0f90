import type { FileDownload } from "../../contract/file-download.js";
import type { HeaderLine } from "./answer.js";

/** The bytes of a file, or a part of it, sent as fast as the client reads. */
export interface DownloadAnswer {
  readonly status: number;
  readonly contentType: string;
  readonly headers: readonly HeaderLine[];
  readonly file: FileDownload;
  readonly from: number;
  readonly sizeBytes: number;
}

const RANGE = /^bytes=(?:(\d{1,15})-(\d{0,15})|-(\d{1,15}))$/;
const PARTIAL_CONTENT = 206;
const RANGE_NOT_SATISFIABLE = 416;

/**
 * The whole file, or the one range that the header requests (RFC 9110, 14.1.2). For several ranges, or an invalid
 * range, the response is the whole file, as the RFC allows.
 */
export function downloadAnswer(
  status: number,
  contentType: string,
  file: FileDownload,
  range: string,
): DownloadAnswer {
  const headers: HeaderLine[] = [["accept-ranges", "bytes"]];
  const { sizeBytes } = file;
  const wanted = RANGE.exec(range);
  if (wanted === null || isBackwards(wanted))
    return { status, contentType, headers, file, from: 0, sizeBytes };
  const [from, to] = bounds(wanted, sizeBytes);
  if (from > to) {
    headers.push(["content-range", `bytes */${sizeBytes}`]);
    return { status: RANGE_NOT_SATISFIABLE, contentType, headers, file, from: 0, sizeBytes: 0 };
  }
  headers.push(["content-range", `bytes ${from}-${to}/${sizeBytes}`]);
  return { status: PARTIAL_CONTENT, contentType, headers, file, from, sizeBytes: to - from + 1 };
}

/** The first and last byte; the first is greater if the range is empty. */
function bounds(
  [, first, last = "", suffix]: RegExpExecArray,
  sizeBytes: number,
): readonly [number, number] {
  if (suffix !== undefined)
    return [Math.max(0, sizeBytes - Number(suffix)), suffix === "0" ? -1 : sizeBytes - 1];
  const end = last === "" ? sizeBytes - 1 : Math.min(Number(last), sizeBytes - 1);
  return [Number(first), end];
}

function isBackwards([, first = "", last = ""]: RegExpExecArray): boolean {
  return last !== "" && Number(last) < Number(first);
}
