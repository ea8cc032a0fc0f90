import { type Sandbox, startSandbox } from "../../../engine/sandbox/sandbox.js";
import type { SandboxUrls } from "../../../engine/sandbox/sandbox-urls.js";
import { type Clock, SystemClock } from "../../../engine/time/clock.js";
import { Connections } from "../../../engine/vendors/transport/connections.js";
import type { VendorContext, VendorSettings } from "../../../engine/vendors/vendor-settings.js";
import { eventually as eventuallyFound } from "../../system/eventually.js";

export interface SandboxedVendors {
  readonly sandbox: Sandbox;
  readonly context: VendorContext;
  settingsFor(vendor: keyof SandboxUrls): VendorSettings;
  close(): Promise<void>;
}

/** The real clients' surroundings, with simulated vendors at the other end of real sockets. */
export async function startSandboxedVendors(
  clock: Clock = new SystemClock(),
): Promise<SandboxedVendors> {
  const sandbox = await startSandbox({ journal: true });
  const connections = new Connections({ clock, allowPrivateAddresses: false });
  return {
    sandbox,
    context: { clock, connections },
    settingsFor: (vendor) => ({
      baseUrl: sandbox.urls[vendor],
      apiKey: "test-key",
      settings: {},
      clientOwned: false,
    }),
    close: async () => {
      await connections.close();
      await sandbox.close();
    },
  };
}

/** Waits for something that comes by itself, without a guess at how long it takes. */
export async function eventually(isSo: () => boolean, what: string): Promise<void> {
  await eventuallyFound(what, () => (isSo() ? true : undefined), 5_000);
}

export function never(): AbortSignal {
  return new AbortController().signal;
}
