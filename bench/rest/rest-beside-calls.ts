import {
  type CallLoadResult,
  type LoadPlan,
  phrasesNeeded,
  runCallLoad,
} from "../load/call-load.js";
import {
  type CallWindows,
  phrasesOfWindows,
  runCallWindows,
  type WindowsPlan,
} from "../load/call-windows.js";
import { type Phrase, phrases } from "../load/phrases.js";
import { startPreparedVendors } from "../stand/prepared-vendors.js";
import type { ServerStand, VendorStand } from "../stand/stand.js";
import { type DashboardsResult, LiveDashboards } from "./live-dashboards.js";
import { Asking, type AskingResult } from "./rest-client.js";
import type { RestData } from "./rest-data.js";
import {
  CALLS,
  type RestRequest,
  restRequests,
  startRestServer,
  withRestData,
} from "./rest-load.js";

const PLAN: LoadPlan = {
  callers: 100,
  settleMs: 4_000,
  measureMs: 30_000,
  turnPeriodMs: 9_000,
  interruptEvery: 4,
};
/** Each request comes as often as from some hundred people with a dashboard open. */
const DASHBOARDS = { connections: 4, perSecond: 50 };
const INSPECTED = ["--inspect=127.0.0.1:0"];

/** Pages that watch calls, and what they ask beside: lists and totals, every 15 s and when a call begins or ends. */
const LIVE_DASHBOARDS = 50;
const LIVE_ASKING = { connections: 4, perSecond: 10 };
/** As many turns as the simulated voice can keep made (85 of 96 MB): of some 200 in a window, the p99 is the second worst. */
const WINDOWS: WindowsPlan = { ...PLAN, measureMs: 16_000, pairs: 7 };

export interface BesideDashboards extends CallWindows {
  readonly dashboards: readonly DashboardsResult[];
}

/** Calls alone and beside dashboards that watch them, in turns. */
export async function measureBesideDashboards(
  plan: WindowsPlan = WINDOWS,
): Promise<BesideDashboards> {
  const spoken = phrases(phrasesOfWindows(plan));
  const vendors = await startPreparedVendors(spoken);
  const dashboards: DashboardsResult[] = [];
  try {
    const windows = await onServer(vendors, (stand, data) =>
      runCallWindows(stand, vendors, spoken, plan, async () => {
        const end = await openDashboards(stand, data);
        return async () => {
          dashboards.push(await end());
        };
      }),
    );
    return { ...windows, dashboards };
  } finally {
    await vendors.process.stop();
  }
}

async function openDashboards(
  { url }: ServerStand,
  data: RestData,
): Promise<() => Promise<DashboardsResult>> {
  const live = await LiveDashboards.open({ url, token: data.token }, LIVE_DASHBOARDS);
  const asked = restRequests(data).filter(({ path }) => path.startsWith("/api/dashboard/calls"));
  const asking = await Promise.all(
    asked.map((request) => Asking.start({ url, ...request }, LIVE_ASKING)),
  );
  return async () => {
    await resultsOf(asking, asked);
    return live.close();
  };
}

export interface BesideCalls {
  readonly alone: CallLoadResult;
  readonly beside: CallLoadResult;
  readonly requests: readonly (AskingResult & { readonly name: string })[];
}

/** Measures the same calls alone and beside dashboards, each on a new server that begins with the same database. */
export async function measureBesideCalls(plan: LoadPlan = PLAN): Promise<BesideCalls> {
  const spoken = phrases(phrasesNeeded(plan));
  const vendors = await startPreparedVendors(spoken);
  try {
    const alone = await onServer(vendors, (stand) => runCallLoad(stand, vendors, spoken, plan));
    const both = await onServer(vendors, (stand, data) =>
      together(stand, data, vendors, spoken, plan),
    );
    return { alone, ...both };
  } finally {
    await vendors.process.stop();
  }
}

async function together(
  stand: ServerStand,
  data: RestData,
  vendors: VendorStand,
  spoken: readonly Phrase[],
  plan: LoadPlan,
) {
  const asked = restRequests(data).filter(({ depth }) => depth === undefined);
  const asking = await Promise.all(
    asked.map((request) => Asking.start({ url: stand.url, ...request }, DASHBOARDS)),
  );
  try {
    const beside = await runCallLoad(stand, vendors, spoken, plan);
    return { beside, requests: await resultsOf(asking, asked) };
  } catch (error) {
    await resultsOf(asking, asked);
    throw error;
  }
}

function resultsOf(asking: readonly Asking[], asked: readonly RestRequest[]) {
  return Promise.all(
    asking.map(async (one, index) => ({
      ...(await one.stop()),
      name: asked[index]?.name ?? "",
    })),
  );
}

function onServer<Result>(
  vendors: VendorStand,
  use: (stand: ServerStand, data: RestData) => Promise<Result>,
): Promise<Result> {
  return withRestData(CALLS, async (dataDir, data) => {
    const process = await startRestServer(dataDir, vendors.urls, INSPECTED);
    const close = () => process.stop();
    try {
      return await use({ url: process.ready, apiKey: data.apiKey, process, close }, data);
    } finally {
      await close();
    }
  });
}
