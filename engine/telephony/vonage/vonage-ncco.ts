import { type Farewell, plainAddress, type StreamTarget } from "../call-documents.js";

/** Vonage refuses more. */
const HEADERS_BYTES_MAX = 512;

/** A call control object (NCCO). Throws a RangeError for parameters that are too long for Vonage. */
export function vonageConnect(target: StreamTarget, sampleRateHz: 8000 | 16_000 = 16_000): string {
  const headers = target.parameters;
  if (Buffer.byteLength(JSON.stringify(headers)) > HEADERS_BYTES_MAX) {
    throw new RangeError(`Vonage passes on at most ${HEADERS_BYTES_MAX} bytes`);
  }
  const endpoint = {
    type: "websocket",
    uri: plainAddress(target.url),
    "content-type": `audio/l16;rate=${sampleRateHz}`,
    headers,
  };
  const eventUrl = target.statusUrl === undefined ? {} : { eventUrl: [target.statusUrl] };
  return JSON.stringify([{ action: "connect", endpoint: [endpoint], ...eventUrl }]);
}

/** The call ends with the document. */
export function vonageSayAndHangUp({ text, language }: Farewell): string {
  return JSON.stringify([
    { action: "talk", text, ...(language === undefined ? {} : { language }) },
  ]);
}
