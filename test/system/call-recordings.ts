import type { CallRecord } from "../../storage/records.js";
import { readStereoFile } from "../engine/calls/stereo-file.js";
import type { Customer, TestServer } from "./test-server.js";

/** Returns the customer's first call, once its recording is complete. */
export function recordedCall(server: TestServer, customer: Customer): Promise<CallRecord> {
  return server.changes.until("the recording of the call", async () => {
    const [call] = await server.calls(customer);
    return call?.metadata["recording"] === undefined ? undefined : call;
  });
}

export function fetchRecording(
  server: TestServer,
  callId: string,
  { apiKey }: Customer,
  headers = {},
): Promise<Response> {
  const url = `${server.url}/api/dashboard/calls/${callId}/recording`;
  return fetch(url, { headers: { "x-api-key": apiKey, ...headers } });
}

export async function readStereo(
  server: TestServer,
  { id }: CallRecord,
  customer: Customer,
): Promise<ReturnType<typeof readStereoFile>> {
  const answer = await fetchRecording(server, id, customer);
  return readStereoFile(Buffer.from(await answer.arrayBuffer()));
}
