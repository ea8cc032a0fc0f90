/** What a stream has in place of a size: it is not known when the stream begins. */
const UNKNOWN_BYTES = 0xffffffff;
const HEADER_BYTES = 44;

/** What stands before 16-bit samples of one channel in a WAV. */
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
