import * as fc from "fast-check";
import { openApiDocument } from "../../../api/contract/openapi/openapi.js";
import { checkAgainstContract } from "../../../test/api/contract/contract-check.js";
import {
  type DocumentedOperation,
  type Generated,
  operationsOf,
  requestsOf,
} from "../../../test/api/contract/request-arbitrary.js";
import type { SeededRandom } from "../../../test/simulation/seeded-random.js";
import type { Attack } from "../attack.js";
import type { AttackedServer } from "../attacked-server.js";
import type { Findings } from "../findings.js";
import { inRows } from "../rows.js";

const EACH = 12;
const SAMPLE_EACH = 3;
const ROWS = 8;
const DEPTH_MAX = 100_000;
const document = openApiDocument();
const operations = operationsOf(document);

export const REST_FUZZ: Attack = {
  name: "rest-fuzz",
  promise:
    "no request made of the OpenAPI document, right, nearly right or mangled, is answered with a fault of the server or against the contract",
  weight: 8,
  sampleMs: 4_000,
  async run(stand, findings) {
    const server = await stand.server();
    let seed = stand.seed;
    let count = 0;
    do {
      for (const each of operations) {
        const plan = { seed, numRuns: stand.isSample ? SAMPLE_EACH : EACH };
        const requests = fc
          .sample(requestsOf(each, document), plan)
          .map((request) => ({ request, raw: mangled(request, stand.random) }));
        await inRows(ROWS, requests, async ({ request, raw }) => {
          await askAsMade(server, each, request, findings);
          if (raw !== undefined) await askMangled(server, each, request, raw, findings);
          count += raw === undefined ? 1 : 2;
        });
      }
      seed += 1;
    } while (!stand.isSample && stand.hasTime());
    findings.demand((await server.ask("GET", "/api/ready")).status === 200, "not ready afterwards");
    findings.tell(`${count} requests on ${operations.length} operations`);
  },
};

function keyFor({ credentials }: Generated): { apiKey?: string } {
  return credentials === "none" ? { apiKey: "" } : {};
}

async function askAsMade(
  server: AttackedServer,
  { operation }: DocumentedOperation,
  request: Generated,
  findings: Findings,
): Promise<void> {
  const { method, path, body } = request;
  const { status, text, ...answer } = await server.ask(method, path, { ...keyFor(request), body });
  const name = operation.operationId;
  findings.demand(status < 500 || status === 503, `${name} was answered ${status}`);
  let isInContract = true;
  try {
    const received = { status, text, body: answer.body, headers: {} };
    checkAgainstContract(method, path.split("?")[0] ?? "", received);
  } catch {
    isInContract = false;
  }
  findings.demand(isInContract, `${name}: an answer of ${status} is not as the contract says`);
}

async function askMangled(
  server: AttackedServer,
  { operation }: DocumentedOperation,
  request: Generated,
  raw: Uint8Array,
  findings: Findings,
): Promise<void> {
  const { status } = await server.ask(request.method, request.path, { ...keyFor(request), raw });
  const isRefusal = (status >= 200 && status < 500) || status === 503;
  findings.demand(isRefusal, `${operation.operationId}, mangled, was answered ${status}`);
}

/** Its body as bytes that are no JSON any more, or too much of it; undefined for a request without one. */
function mangled({ method, body }: Generated, random: SeededRandom): Uint8Array | undefined {
  if (body === undefined || method === "GET") return undefined;
  const bytes = Buffer.from(JSON.stringify(body));
  const at = random.whole(0, bytes.length);
  const odd = Buffer.of(random.whole(0, 255));
  const ways = [
    bytes.subarray(0, at),
    Buffer.concat([bytes.subarray(0, at), odd, bytes.subarray(at)]),
    Buffer.from("[".repeat(random.whole(1, DEPTH_MAX))),
    Buffer.from(`{"__proto__":${bytes.toString()},"constructor":{}}`),
    Buffer.concat([bytes, bytes]),
  ];
  return random.pick(ways);
}
