import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, before, test } from "node:test";
import { FrontStand } from "./front-stand.js";

const SECRET = "open-sesame-of-the-broadcaster";

let front: FrontStand;
before(async () => {
  front = await FrontStand.start();
});
after(() => front.stop());

test("with the ingest down no log contains a publishing key, and the access log reports the ingest", async () => {
  const referer = { Referer: `http://viewer.example/whip/demo?secret=${SECRET}` };
  const answers: readonly (readonly [status: number, method: string, path: string])[] = [
    [503, "POST", `/whip/demo?secret=${SECRET}`],
    [503, "DELETE", `/whip/demo/abc?secret=${SECRET}`],
    [503, "GET", `/api/streams?secret=${SECRET}`],
    [404, "POST", `/whip/demo%3Fsecret=${SECRET}`],
    [404, "GET", `/none?secret=${SECRET}`],
    [414, "POST", `/whip/demo?secret=${SECRET}&long=${"x".repeat(40_000)}`],
    [400, "post", `/whip/demo?secret=${SECRET}`],
  ];
  for (const [status, method, path] of answers) {
    const body = status === 414 || method === "GET" ? "" : "v=0";
    const answer = await front.ask(method, path, referer, body);
    assert.equal(answer.status, status, `${method} ${path.slice(0, 80)}`);
  }
  const access = readFileSync(front.accessLog, "utf8");
  assert.ok(![access, ...front.lines].join("\n").includes("sesame"), access);
  assert.match(access, /"POST \/whip\/demo" 503 .* 127\.0\.0\.1:\d+ 502$/m);
});
