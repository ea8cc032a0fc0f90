import { exec } from "node:child_process";
import { readFileSync } from "node:fs";
import { createServer, type RequestListener } from "node:http";
import * as v from "valibot";
import { parse } from "yaml";

/**
 * Started instead of MediaMTX, with the path of its configuration. Responds as its control API and its WHIP endpoint
 * do, runs the hook of a path that becomes ready, and prints its requests and settings. It handles no media.
 */
function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

const Config = v.looseObject({
  api: v.literal(true),
  webrtc: v.literal(true),
  paths: v.record(v.string(), v.looseObject({ runOnReady: v.optional(v.string()) })),
});
const config = v.parse(Config, parse(readFileSync(process.argv[2] ?? "", "utf8")));
const published = new Set<string>();

function serve(setting: string, answer: RequestListener): void {
  const [host, port] = (process.env[setting] ?? "").split(":");
  createServer((request, response) => {
    print(`${request.method} ${request.url}`);
    answer(request, response);
  }).listen(Number(port), host);
}

serve("MTX_APIADDRESS", (_request, response) => {
  const items = Array.from(published, (name) => ({
    name,
    ready: true,
    source: { type: "webRTCSession", id: "5d1f0f0e-7c3b-4b7e-9a51-1f1b2f0f6c11" },
    tracks2: [{ codec: "H264", codecProps: { width: 320, height: 240 } }],
    readers: [],
  }));
  response.setHeader("content-type", "application/json");
  response.end(JSON.stringify({ itemCount: items.length, pageCount: 1, items }));
});
serve("MTX_WEBRTCADDRESS", (request, response) => {
  const name = request.url?.replace(/^\/|\/whip.*$/g, "") ?? "";
  published.add(name);
  response.setHeader("location", `/${name}/whip/0a1b2c3d`);
  response.writeHead(201, { "content-type": "application/sdp" }).end("v=0");
  for (const [pattern, { runOnReady }] of Object.entries(config.paths)) {
    if (runOnReady !== undefined && new RegExp(pattern.replace(/^~/, "")).test(name))
      exec(runOnReady);
  }
});
print(`paths: ${Object.keys(config.paths).join(" ")}`);
print(`keys: ${process.env["MTX_AUTHMETHOD"]}, ${process.env["MTX_AUTHHTTPADDRESS"]}`);
