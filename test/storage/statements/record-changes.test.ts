import assert from "node:assert/strict";
import { test } from "node:test";
import { RecordChanges } from "../../../storage/statements/record-changes.js";

test("a read from before a change is out of date for good, whichever process made it", async () => {
  const changes = new RecordChanges();
  const seen = [changes.count];
  const note = () => seen.push(changes.count);
  changes.invalidate();
  note();
  await changes.after(Promise.resolve());
  note();
  changes.invalidate();
  note();
  await assert.rejects(changes.after(Promise.reject(new Error("no way back"))), /no way back/);
  note();
  assert.equal(new Set(seen).size, 5, String(seen));
});

test("a write settles once the others were notified, even if it fails", async () => {
  const changes = new RecordChanges();
  const order: string[] = [];
  changes.onChanged(async () => {
    order.push(`told at ${changes.count}`);
    await new Promise(setImmediate);
    order.push("heard");
  });
  assert.equal(await changes.after(Promise.resolve("row")), "row");
  order.push("written");
  await changes.after(Promise.reject(new Error("full"))).catch(() => order.push("refused"));
  const told = (count: number) => [`told at ${count}`, "heard"];
  assert.deepEqual(order, [...told(1), "written", ...told(2), "refused"]);
});
