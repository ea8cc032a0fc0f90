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
    models: [
      { modelId: "aura-2-thalia-en", label: "Thalia (English)", plan: "starter" },
      { modelId: "aura-2-apollo-en", label: "Apollo (English)", plan: "starter" },
      { modelId: "aura-2-celeste-es", label: "Celeste (Spanish)", plan: "starter" },
    ],
    fields: {},
    settings: [BASE_URL],
    client: (given, context) => new DeepgramAura(given, context),
  },
  stt: {
    displayName: "Deepgram",
    models: [
      { modelId: "nova-3", label: "Nova 3", plan: "free" },
      { modelId: "nova-2", label: "Nova 2", plan: "free" },
      {
        modelId: "flux-general-en",
        label: "Flux (English)",
        description: "Decides by itself when the caller's turn ends",
        plan: "free",
        decidesTurns: true,
      },
      {
        modelId: "flux-general-multi",
        label: "Flux (multilingual)",
        description: "Decides by itself when the caller's turn ends",
        plan: "free",
        decidesTurns: true,
      },
    ],
    fields: { ...NOVA_FIELDS, ...FLUX_FIELDS },
    settings: [
      setting("utteranceEndMs", "Silence that ends an utterance, ms (Nova)", "number"),
      setting("eotThreshold", "How sure that a turn is over, 0.5 to 0.9 (Flux)", "number"),
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
