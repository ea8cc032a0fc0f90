/** Makes a UUID of the first 16 bytes, of version 8 (RFC 9562), which leaves the other bits to the application. */
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
