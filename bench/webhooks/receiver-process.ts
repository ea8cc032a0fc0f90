import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

/** A receiver of webhooks that acknowledges everything at once; a process of its own, so that its CPU is not measured. */
const server = createServer((request, response) => {
  request.resume();
  request.on("end", () => response.writeHead(204).end());
});
server.listen(0, "127.0.0.1", () => {
  const address = server.address() as AddressInfo;
  console.log(`http://127.0.0.1:${address.port}/`);
});
