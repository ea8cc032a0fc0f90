import { once } from "node:events";
import { WebSocket } from "ws";

/** Opens a media stream with the token, resolves with the first thing received, and hangs up. */
export async function openStream(url: string, token: string): Promise<"media" | "close"> {
  const socket = new WebSocket(`${url.replace("http", "ws")}/ws/telephony/stream`);
  await once(socket, "open");
  const streamSid = `MZ${"0".repeat(32)}`;
  const start = {
    streamSid,
    callSid: `CA${"0".repeat(32)}`,
    tracks: ["inbound"],
    mediaFormat: { encoding: "audio/x-mulaw", sampleRate: 8_000, channels: 1 },
    customParameters: { token },
  };
  socket.send(JSON.stringify({ event: "connected", protocol: "Call", version: "1.0.0" }));
  socket.send(JSON.stringify({ event: "start", sequenceNumber: "1", streamSid, start }));
  const media = once(socket, "message").then(() => "media" as const);
  const close = once(socket, "close").then(() => "close" as const);
  const first = await Promise.race([media, close]);
  socket.close();
  return first;
}
