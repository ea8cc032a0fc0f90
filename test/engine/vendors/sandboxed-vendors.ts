import { type Sandbox, startSandbox } from "../../../engine/sandbox/sandbox.js";
import type { SandboxUrls } from "../../../engine/sandbox/sandbox-urls.js";
import { type Clock, SystemClock } from "../../../engine/time/clock.js";
import { Connections } from "../../../engine/vendors/transport/connections.js";
import type { VendorContext, VendorSettings } from "../../../engine/vendors/vendor-settings.js";
import { Changes } from "../../doubles/changes.js";
import { eventually as eventuallyFound } from "../../system/eventually.js";

export interface SandboxedVendors {
  readonly sandbox: Sandbox;
  /** Changes of the sandbox's journal. */
  readonly changes: Changes;
  readonly context: VendorContext;
  settingsFor(vendor: keyof SandboxUrls): VendorSettings;
  close(): Promise<void>;
}

/** The real clients' surroundings, with simulated vendors at the other end of real sockets. */
export async function startSandboxedVendors(
  clock: Clock = new SystemClock(),
): Promise<SandboxedVendors> {
  const changes = new Changes();
  const sandbox = await startSandbox({ journal: true, onChange: changes.tell });
  const connections = new Connections({ clock, allowPrivateAddresses: false });
  return {
    sandbox,
    changes,
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
  await eventuallyFound(what, () => (isSo() ? true : undefined));
}

export function never(): AbortSignal {
  return new AbortController().signal;
}
