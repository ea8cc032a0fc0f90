import type { G722Digests } from "./g722-signals.js";

/** What ffmpeg makes of each signal. `npm run test:livestream -- g722` asks ffmpeg again, and shows what has changed. */
export const G722_REFERENCE: Readonly<Record<string, G722Digests>> = {
  silence: {
    codes: "9c0b9b2330c2fa6b38a5799a186bfcec138aa6445a5c4dd2d5e44b70897271c7",
    decoded: "67f04dfd3801f7a0b3f52d52e00fcb9df8190acf4b9ead906a2c7cb320c8cfc8",
    decodedAfterLoss: "f68ba7d782ef170e1a101c4b495fbc4273e39f2739dbb97d6400976e4a35ccad",
  },
  "a low tone": {
    codes: "4a399756052224795be4c15a7cccca97ca8fb34865f96234c6fa7bd66d61618a",
    decoded: "b614dfb1fbac8419a9f1b3c248a7ceb1c34c2ec4e6f916098f027b54512833eb",
    decodedAfterLoss: "8a1a48d5b80fdbd7cfd2fe8b2a1416b093aad7a0296a205056fb539884c1e5d3",
  },
  "a tone in the upper band": {
    codes: "8a92a5c731f84659376eeefd6bbdbd11eaed3ea47950cc391b0267e1b0f268eb",
    decoded: "36d6d42571f5c8cfc70f5940f4331214b40836793e30f4a5313b68bb1e1a93a9",
    decodedAfterLoss: "5a8457a499845cd44da0a075c9dec0df9540a6b84782c384678ee4de3771e852",
  },
  "a square wave at full scale": {
    codes: "317f9f5df94d5fc5911795a02e97f0d119a8eac10e57d588b80ce1a23d82f795",
    decoded: "5ea5770d822023c1636a39032a5c2d0c6d33ad433fdbdb912a762d11b652ad8a",
    decodedAfterLoss: "38c17623c260ae1025e41d956c67a90b21c5877a51febc8afe3047c8e961ca1d",
  },
  "loud noise": {
    codes: "3841bbe88ed6cf32001eff89c7b94e582ecb637bad83838560ff85dc101436a3",
    decoded: "5570275d58c214f6eec4a51e3beef3ff080a2a94aa3dd747c2e93a0c074e2c1a",
    decodedAfterLoss: "3c3c90fc5068b6bb8fd12d7b4eb27e73ba05d79e30ca9ef2a9507400f8648fb9",
  },
  "soft noise": {
    codes: "e97dfa29708bf6aaedd4a130f016eb4848b9da478bccc343cd6dea0a02b2fcd2",
    decoded: "88a7d3aeea04f179969fb97da3ba431d31f3653c600d1abab88eef05169fada8",
    decodedAfterLoss: "52c56dc589c28936e9f30e095347ce35e9999efab8221f57f168b53b14fab5ad",
  },
  "a sweep that stops and starts": {
    codes: "3348c9ebdbf0fde84da9f2acc6b853bcf14bd320463570c53e7fc682443d47e1",
    decoded: "3cc0d5f3d79606d17f0ef00530120904fc88261a596142f76627fb457add8505",
    decodedAfterLoss: "a1eb96d5cff08385021496de22eacf100269b285da8f89f92c5c9d33486dd758",
  },
  "syllables of tone and hiss": {
    codes: "d34bb03f46a154beeb8f0edf2e9668ea69950a79190eaba06978087ed68df503",
    decoded: "51300c0fa135854be7b46adc7c8b4f27c9c9ef73f27de3f6aad5c425f016c3c8",
    decodedAfterLoss: "5e84d64a8fdb1498a6b206c6c617abced8c11ba80027b86b0ce7682198cfaeb7",
  },
};
