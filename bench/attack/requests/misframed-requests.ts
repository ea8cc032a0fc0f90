/** A body of three bytes in chunks, behind its header line. */
export const CHUNKS = "\r\n\r\n3\r\nabc\r\n0\r\n\r\n";

/** Requests whose end two readers could see at different places, each with the status that its refusal has. */
export const MISFRAMED: readonly (readonly [string, string, RegExp])[] = [
  ["two lengths", "content-length: 3\r\ncontent-length: 30\r\n\r\nabc", /400/],
  ["the same length twice", "content-length: 3\r\ncontent-length: 3\r\n\r\nabc", /400/],
  ["a list of lengths", "content-length: 3, 3\r\n\r\nabc", /400/],
  ["a length with a sign", "content-length: +3\r\n\r\nabc", /400/],
  ["a length in hexadecimal", "content-length: 0x3\r\n\r\nabc", /400/],
  ["a length and chunks", `content-length: 3\r\ntransfer-encoding: chunked${CHUNKS}`, /400/],
  ["a coding that only looks like chunks", `transfer-encoding: xchunked${CHUNKS}`, /400/],
  ["a coding without chunks", `transfer-encoding: gzip${CHUNKS}`, /400/],
  ["chunks that are not last", `transfer-encoding: chunked, identity${CHUNKS}`, /400/],
  ["two codings", `transfer-encoding: chunked\r\ntransfer-encoding: identity${CHUNKS}`, /400/],
  ["a coding within chunks", `transfer-encoding: gzip, chunked${CHUNKS}`, /501/],
];
