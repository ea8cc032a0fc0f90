import { type TestContext, test } from "node:test";
import { PostgresCluster } from "../../bench/stand/postgres-cluster.js";
import {
  type AccessStand,
  oneCallOfOneToken,
  oneTimeOfOneToken,
  watchesThatEnd,
} from "../system/access-trials.js";
import { NodeStand } from "./node-stand.js";

const cluster = await PostgresCluster.start();

async function twoServers(context: TestContext): Promise<AccessStand> {
  const stand = await NodeStand.start(context, cluster);
  const servers = [await stand.serve("one"), await stand.serve("other", { WORKERS: "2" })];
  const { database, tenancy, customers } = stand;
  return { urls: servers.map(({ url }) => url), database, tenancy, customers };
}

test("a token has one call, however many connections show it to two servers at once", async (context) =>
  oneCallOfOneToken(await twoServers(context)));

test("the time of a token counts over reconnections to two servers", async (context) =>
  oneTimeOfOneToken(await twoServers(context)));

test("watches and tokens end with the key or the member, at both servers", async (context) =>
  watchesThatEnd(await twoServers(context)));
