import { after, before } from "node:test";
import { MP3 } from "../../../engine/audio/audio-format.js";
import type {
  LanguageModel,
  TextToSpeech,
  ToolDefinition,
} from "../../../engine/vendors/contracts.js";
import { Connections } from "../../../engine/vendors/transport/connections.js";
import { CATEGORIES, type Vendor } from "../../../engine/vendors/vendor.js";
import type { VendorContext, VendorSettings } from "../../../engine/vendors/vendor-settings.js";
import { VirtualClock } from "../../doubles/virtual-clock.js";
import { never } from "./sandboxed-vendors.js";
import { ScriptedWebServer } from "./scripted-web-server.js";

export const SAID = [{ role: "user", content: "Hello" }] as const;

/** A server for the tests of one file that takes whatever clients ask of it, and keeps it. */
export class AskedServer {
  readonly server = new ScriptedWebServer();
  readonly context: VendorContext;

  constructor() {
    const clock = new VirtualClock();
    const connections = new Connections({ clock, allowPrivateAddresses: true });
    this.context = { clock, connections };
    before(() => this.server.start());
    after(async () => {
      await connections.close();
      await this.server.close();
    });
  }

  given(settings: VendorSettings["settings"] = {}, apiKey = "the-key"): VendorSettings {
    return { baseUrl: `${this.server.url}/v1`, apiKey, settings, clientOwned: false };
  }

  async completionBody(
    model: LanguageModel,
    modelId: string,
    tools: readonly ToolDefinition[] = [],
  ): Promise<unknown> {
    this.server.answer = (response) => response.end('data: [DONE]\n\n{"done":true}\n');
    const request = { modelId, messages: SAID, temperature: 0.4, maxTokens: 200, tools };
    await model.complete(request, () => undefined, never());
    return JSON.parse(this.server.requests.at(-1)?.body ?? "");
  }

  async speechBody(voice: TextToSpeech, modelId: string): Promise<unknown> {
    this.server.answer = (response) => response.end("sound");
    const request = { text: "Hi.", modelId, speed: 1, language: "en", format: MP3 };
    await voice.synthesize(request, () => undefined, never());
    return JSON.parse(this.server.requests.at(-1)?.body ?? "");
  }
}

/** What vendors offer, a line for each of their categories: its name, its models with their plans, and its settings. */
export function offersOf(vendors: readonly Vendor[]): string {
  const lines = vendors.flatMap((vendor) =>
    CATEGORIES.flatMap((category) => {
      const offer = vendor[category];
      if (offer === undefined) return [];
      const models = offer.models.map(({ modelId, label, plan, description }) => {
        const more = description === undefined ? "" : ` (${description})`;
        return `${modelId} "${label}" ${plan}${more}`;
      });
      const settings = offer.settings.map(({ key, type }) => `${key} ${type}`);
      const parts = [offer.displayName, ...models, settings.join(" ")];
      return [`${vendor.key} ${category} ${parts.join("; ")}`];
    }),
  );
  return `\n${lines.join("\n")}\n`;
}
