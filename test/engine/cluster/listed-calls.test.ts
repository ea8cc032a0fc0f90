import assert from "node:assert/strict";
import { test } from "node:test";
import type { ListedOrder, ListedPlacement } from "../../../engine/calls/lists/listed-calls.js";
import { NO_WORKER } from "../../../engine/cluster/primary.js";
import { listedOrder } from "../calls/lists/listed-order.js";
import { newCluster, settled } from "./cluster-in-one-process.js";

const ORDER = listedOrder();
const PLACED: ListedPlacement = { kind: "placed" };

/** Two workers that note the orders that they get. */
function placing() {
  const { primary, join } = newCluster();
  const orders: (readonly [number, ListedOrder])[] = [];
  const workers = [1, 2].map((name) =>
    join(name, {
      placeListedCall: (order) => {
        orders.push([name, order]);
        return PLACED;
      },
    }),
  );
  return { primary, workers, orders };
}

test("the workers that accept calls place the calls of lists in turn", async () => {
  const { primary, workers, orders } = placing();
  assert.deepEqual(await primary.placeListedCall(ORDER), NO_WORKER, "they are starting");
  for (const worker of workers) worker.notify("state", { isServing: true, isLate: false });
  await settled();
  for (let call = 0; call < 3; call += 1) {
    assert.deepEqual(await primary.placeListedCall(ORDER), PLACED);
  }
  workers[0]?.notify("state", { isServing: true, isLate: true });
  await settled();
  await primary.placeListedCall(ORDER);
  await primary.placeListedCall(ORDER);
  assert.deepEqual(
    orders.map(([name]) => name),
    [1, 2, 1, 2, 2],
    "one whose event loop is late gets none",
  );
  assert.deepEqual(orders[0]?.[1], ORDER);
});

test("it is unknown whether a worker that ends has placed its call", async () => {
  const { primary, join } = newCluster();
  const worker = join(1, { placeListedCall: () => new Promise<ListedPlacement>(() => undefined) });
  worker.notify("state", { isServing: true, isLate: false });
  await settled();
  const placement = primary.placeListedCall(ORDER);
  primary.leave(1);
  await assert.rejects(Promise.resolve(placement), { code: "process_link_closed" });
});
