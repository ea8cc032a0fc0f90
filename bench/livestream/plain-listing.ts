import { readFileSync } from "node:fs";
import { createServer } from "node:http";

/** The reference: Node's own HTTP server, which answers everything with the bytes of one file and does nothing else. */
const body = readFileSync(process.argv[2] ?? "");
const server = createServer((_request, response) => {
  response.writeHead(200, {
    "content-type": "application/json; charset=utf-8",
    "content-length": body.length,
    "access-control-allow-origin": "*",
  });
  response.end(body);
});
server.listen(0, "127.0.0.1", () => {
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("no port was given");
  console.log(`reference listens on http://127.0.0.1:${address.port}`);
});
process.once("SIGTERM", () => process.exit());
