import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { createMcpHandler, fromJsonSchema, McpServer } from "@modelcontextprotocol/server";

/**
 * What a business has besides its agent, in a process of its own so that its CPU is not measured: `/before` names the caller, and
 * `/mcp` has five tools.
 */
const TOOLS = ["find_order", "book_table", "cancel_table", "open_ticket", "read_hours"];
const inputSchema = fromJsonSchema({
  type: "object",
  properties: {
    number: { type: "string", description: "The number on the invoice." },
    guests: { type: "integer", description: "How many people come." },
  },
  required: ["number"],
});

const mcp = createMcpHandler(() => {
  const server = new McpServer({ name: "business", version: "1.0.0" });
  for (const name of TOOLS) {
    const description = `Does ${name.replace("_", " ")} for a customer who asks for it.`;
    server.registerTool(name, { description, inputSchema }, () => ({
      content: [{ type: "text", text: "It is done." }],
    }));
  }
  return server;
});
const customer = JSON.stringify({ variables: { firstName: "Ada", orders: 3, city: "Bern" } });

const http = createServer((request, response) => void answer(request, response));

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const pieces: Buffer[] = [];
  for await (const piece of request) pieces.push(piece);
  const body = Buffer.concat(pieces).toString();
  if (request.url === "/before") {
    response.setHeader("content-type", "application/json");
    response.end(customer);
    return;
  }
  const headers = new Headers();
  for (const [name, value] of Object.entries(request.headers)) headers.set(name, String(value));
  const { method = "POST" } = request;
  const asked = new Request("http://localhost/mcp", { method, headers, ...(body && { body }) });
  const answered = await mcp.fetch(asked);
  response.writeHead(answered.status, Object.fromEntries(answered.headers));
  response.end(await answered.text());
}

http.listen(0, "127.0.0.1", () => {
  const address = http.address() as AddressInfo;
  console.log(`http://127.0.0.1:${address.port}`);
});
