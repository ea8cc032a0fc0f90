/** Makes a version 8 UUID (RFC 9562) from the first 16 bytes; that version leaves its bits to the application. */
export function derivedUuid(bytes: Buffer): string {
  const hex = bytes.toString("hex");
  const variant = ((Number.parseInt(hex.slice(16, 17), 16) % 4) + 8).toString(16);
  return [
    hex.slice(0, 8),
    hex.slice(8, 12),
    `8${hex.slice(13, 16)}`,
    `${variant}${hex.slice(17, 20)}`,
    hex.slice(20, 32),
  ].join("-");
}
