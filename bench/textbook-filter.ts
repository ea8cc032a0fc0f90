const TAPS = 64;
const PHASES = 2;
const PHASE_TAPS = TAPS / PHASES;

/** 8 kHz to 16 kHz as one writes it first: two phases of 32 taps, one result after another. */
export function textbookUpsampler(): (pcm: Int16Array) => Int16Array {
  const taps = Float32Array.from({ length: TAPS }, (_, at) => {
    const x = (at - (TAPS - 1) / 2) / PHASES;
    const window = 0.54 - 0.46 * Math.cos((2 * Math.PI * at) / (TAPS - 1));
    return (Math.sin(Math.PI * x) / (Math.PI * x)) * window;
  });
  let history = new Int16Array(PHASE_TAPS - 1);
  return (pcm) => {
    const window = new Int16Array(history.length + pcm.length);
    window.set(history);
    window.set(pcm, history.length);
    const wide = new Int16Array(PHASES * pcm.length);
    for (let index = 0; index < pcm.length; index += 1) {
      for (let phase = 0; phase < PHASES; phase += 1) {
        let sum = 0;
        for (let tap = 0; tap < PHASE_TAPS; tap += 1) {
          const past = window[index + PHASE_TAPS - 1 - tap] ?? 0;
          sum += past * (taps[tap * PHASES + phase] ?? 0);
        }
        wide[PHASES * index + phase] = Math.max(-32_768, Math.min(32_767, Math.round(sum)));
      }
    }
    history = window.slice(pcm.length);
    return wide;
  };
}
