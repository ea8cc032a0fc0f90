import { offeredModels } from "../model-catalog.js";
import { WEB_SOCKET_PROTOCOLS } from "../setting-fields.js";
import { BASE_URL, setting, type Vendor } from "../vendor.js";
import { DEEPGRAM_URL, VENDOR } from "./deepgram-access.js";
import { DeepgramAura } from "./deepgram-aura.js";
import { deepgramFlux, FLUX_FIELDS, isFlux } from "./deepgram-flux.js";
import { deepgramNova, NOVA_FIELDS } from "./deepgram-nova.js";

export const DEEPGRAM: Vendor = {
  key: VENDOR,
  apiKey: { isRequired: true, variable: "DEEPGRAM_API_KEY" },
  address: {
    variable: "DEEPGRAM_URL",
    publicUrl: DEEPGRAM_URL,
    protocols: WEB_SOCKET_PROTOCOLS,
  },
  tts: {
    displayName: "Deepgram Aura",
    models: offeredModels("deepgram", "tts"),
    fields: {},
    settings: [BASE_URL],
    client: (given, context) => new DeepgramAura(given, context),
  },
  stt: {
    displayName: "Deepgram",
    models: offeredModels("deepgram", "stt"),
    fields: { ...NOVA_FIELDS, ...FLUX_FIELDS },
    settings: [
      setting("utteranceEndMs", "Silence that ends an utterance, ms (Nova)", "number"),
      setting("eotThreshold", "End-of-turn confidence, 0.5 to 1 (Flux)", "number"),
      setting("eotTimeoutMs", "Silence that ends a turn in any case, ms (Flux)", "number"),
      BASE_URL,
    ],
    client: (given, context) => {
      const nova = deepgramNova(given, context);
      const flux = deepgramFlux(given, context);
      return {
        open: (options, listener, signal) =>
          (isFlux(options.modelId) ? flux : nova).open(options, listener, signal),
      };
    },
  },
};
