import { type CallLoadResult, type LoadPlan, phrasesNeeded, runCallLoad } from "./call-load.js";
import { type DashboardsResult, LiveDashboards } from "./live-dashboards.js";
import { type Phrase, phrases } from "./phrases.js";
import { startPreparedVendors } from "./prepared-vendors.js";
import { Asking, type AskingResult } from "./rest-client.js";
import type { RestData } from "./rest-data.js";
import {
  CALLS,
  type RestRequest,
  restRequests,
  startRestServer,
  withRestData,
} from "./rest-load.js";
import type { ServerStand, VendorStand } from "./stand.js";

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

/** Pages that watch calls, and what they ask beside: three lists and totals, every 15 s and when a call begins or ends. */
const LIVE_DASHBOARDS = 50;
const LIVE_ASKING = { connections: 4, perSecond: 10 };
const LIVE_ROUNDS = 2;

export interface BesideDashboards {
  readonly alone: readonly CallLoadResult[];
  readonly beside: readonly CallLoadResult[];
  readonly dashboards: readonly DashboardsResult[];
}

/** As `measureBesideCalls`, beside dashboards that watch the calls; in turns, so that both see the same hour of the machine. */
export async function measureBesideDashboards(plan: LoadPlan = PLAN): Promise<BesideDashboards> {
  const spoken = phrases(phrasesNeeded(plan));
  const vendors = await startPreparedVendors(spoken);
  const alone: CallLoadResult[] = [];
  const beside: CallLoadResult[] = [];
  const dashboards: DashboardsResult[] = [];
  try {
    for (let round = 0; round < LIVE_ROUNDS; round += 1) {
      alone.push(await onServer(vendors, (stand) => runCallLoad(stand, vendors, spoken, plan)));
      await onServer(vendors, async (stand, data) => {
        const live = await LiveDashboards.open(
          { url: stand.url, token: data.token },
          LIVE_DASHBOARDS,
        );
        const asked = restRequests(data).filter(({ path }) =>
          path.startsWith("/api/dashboard/calls"),
        );
        const asking = await Promise.all(
          asked.map((request) => Asking.start({ url: stand.url, ...request }, LIVE_ASKING)),
        );
        beside.push(await runCallLoad(stand, vendors, spoken, plan));
        dashboards.push(live.close());
        await resultsOf(asking, asked);
      });
    }
    return { alone, beside, dashboards };
  } finally {
    await vendors.process.stop();
  }
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
