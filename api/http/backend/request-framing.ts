import type { HttpRequest } from "./http-backend.js";

/** The status line with which the request is refused. */
export type FramingRefusal = "400 Bad Request" | "501 Not Implemented";

const LENGTH = /^\d+$/;

/**
 * Returns why a request is refused: two readers could see its end at different places, so that one's body is the
 * other's next request (RFC 9112, section 6), or could route it to different hosts (section 3.2). Returns undefined for
 * an unambiguous request.
 */
export function framingRefusal(request: HttpRequest): FramingRefusal | undefined {
  const coding = request.getHeader("transfer-encoding");
  const length = request.getHeader("content-length");
  let hostCount = 0;
  let codingCount = 0;
  let lengthCount = 0;
  request.forEach((name) => {
    if (name === "host") hostCount += 1;
    else if (name === "transfer-encoding") codingCount += 1;
    else if (name === "content-length") lengthCount += 1;
  });
  if (hostCount !== 1) return "400 Bad Request";
  if (codingCount + lengthCount === 0) return undefined;
  if (lengthCount + codingCount > 1) return "400 Bad Request";
  if (codingCount > 0) return codingRefusal(coding);
  return LENGTH.test(length) ? undefined : "400 Bad Request";
}

/** Only chunks are supported; if they are not the last coding, the end of the body is unknown. */
export function codingRefusal(coding: string): FramingRefusal | undefined {
  const codings = coding
    .toLowerCase()
    .split(",")
    .map((each) => each.trim());
  if (codings.at(-1) !== "chunked") return "400 Bad Request";
  return codings.length === 1 ? undefined : "501 Not Implemented";
}
