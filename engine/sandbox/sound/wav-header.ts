/** A stream's replacement for the size, which is unknown at its beginning. */
const UNKNOWN_BYTES = 0xffffffff;
const HEADER_BYTES = 44;

/** The header of a WAV with 16-bit samples of one channel. */
export function wavHeader(sampleRateHz: number, sizeBytes = UNKNOWN_BYTES): Buffer {
  const header = Buffer.alloc(HEADER_BYTES);
  const isKnown = sizeBytes !== UNKNOWN_BYTES;
  header.write("RIFF", 0);
  header.writeUInt32LE(isKnown ? HEADER_BYTES - 8 + sizeBytes : UNKNOWN_BYTES, 4);
  header.write("WAVEfmt ", 8);
  header.writeUInt32LE(16, 16);
  header.writeUInt16LE(1, 20);
  header.writeUInt16LE(1, 22);
  header.writeUInt32LE(sampleRateHz, 24);
  header.writeUInt32LE(sampleRateHz * 2, 28);
  header.writeUInt16LE(2, 32);
  header.writeUInt16LE(16, 34);
  header.write("data", 36);
  header.writeUInt32LE(sizeBytes, 40);
  return header;
}
