/** The server takes a body of 1 MiB; the text grows a little on its way. */
export const CSV_BYTES_MAX = 1_000_000;

const UTF_16_LE = [0xff, 0xfe] as const;

/** The text of a spreadsheet's CSV file: UTF-8, or what spreadsheets of Western Europe and "Unicode text" write. */
export function csvTextOf(bytes: Uint8Array): string {
  if (UTF_16_LE.every((byte, index) => bytes[index] === byte)) {
    return new TextDecoder("utf-16le").decode(bytes);
  }
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return new TextDecoder("windows-1252").decode(bytes);
  }
}
