import type { VendorFault } from "../contracts.js";
import { faultOfStatus, type RefusalDetail, refusal } from "../vendor-fault.js";
import type { Endpoint, VendorContext } from "../vendor-settings.js";
import { openSocket, type RefusedUpgrade, type VendorSocket } from "./web-socket.js";

const OPEN_TIMEOUT_MS = 5_000;

/** The address of a vendor with a WebSocket, and its credentials. */
export interface SocketAccess {
  readonly context: VendorContext;
  readonly endpoint: Endpoint;
  readonly clientOwned: boolean;
  readonly orgId?: string | undefined;
  readonly apiKey: string;
  /** Includes the key. */
  readonly headers: Readonly<Record<string, string>>;
}

/** How a vendor refuses an upgrade. */
export interface SocketDialect {
  readonly vendor: string;
  refusalDetail(answer: RefusedUpgrade): RefusalDetail;
  /** Used if the vendor's own code is more specific than the status. */
  refusalFault?(code: string | undefined, status: number): VendorFault;
}

/** Opens a socket at a path and query relative to the vendor's address. Rejects as `openSocket` does. */
export function openVendorSocket(
  dialect: SocketDialect,
  access: SocketAccess,
  target: string,
  signal: AbortSignal,
): Promise<VendorSocket> {
  const { vendor } = dialect;
  const { context, endpoint, clientOwned, orgId, apiKey, headers } = access;
  const url = `${endpoint.origin.replace(/^http/, "ws")}${endpoint.path}${target}`;
  return openSocket(
    {
      vendor,
      url,
      headers,
      connect: context.connections.forSocket(clientOwned, orgId),
      clock: context.clock,
      openTimeoutMs: OPEN_TIMEOUT_MS,
      offersCompression: false,
      refuse: (answer) => {
        const detail = dialect.refusalDetail(answer);
        const fault =
          dialect.refusalFault?.(detail.code, answer.status) ?? faultOfStatus(answer.status);
        const nowMs = context.clock.epochMs();
        return refusal(vendor, fault, { ...answer, nowMs }, detail, apiKey);
      },
    },
    signal,
  );
}
