/** How long each frame lasts. */
export const FRAME_MS = 20;
/** Frames of PCM at 16 kHz: one that a voice meter takes for a voice, and one that it takes for a silent room. */
export const LOUD = frame(3_000);
export const QUIET = frame(3);

function frame(amplitude: number): Uint8Array {
  const pcm = Int16Array.from({ length: FRAME_MS * 16 }, (_, at) =>
    at % 100 < 50 ? amplitude : -amplitude,
  );
  return new Uint8Array(pcm.buffer);
}
