import type { OtherNodes } from "../../../engine/cluster/coordination.js";
import { primaryTokens } from "../../../engine/cluster/primary.js";
import { VirtualClock } from "../../doubles/virtual-clock.js";

/**
 * Other servers of this server's database that have and accept what the test says; `asked` lists the server's
 * requests to them.
 */
export class OtherServers implements OtherNodes {
  readonly asked: string[] = [];
  readonly tokens = primaryTokens(new VirtualClock());
  isDraining = false;
  othersAccept = false;
  address: string | undefined;
  other: ReturnType<OtherNodes["otherAvailableServer"]>;
  slotCount = 0;
  /** Their response to a slot request. */
  slot: () => Promise<boolean> = () => Promise.resolve(true);
  handed: Awaited<ReturnType<OtherNodes["handOver"]>>;
  /** Calls that one of them has. */
  readonly calls = new Set<string>();

  streamAddress() {
    return this.address;
  }

  otherAvailableServer() {
    return this.other;
  }

  async stopTaking(): Promise<void> {
    this.asked.push("stop");
    this.isDraining = true;
  }

  takeSlot({ callId, callsMax }: Parameters<OtherNodes["takeSlot"]>[0]): Promise<boolean> {
    this.asked.push(`take ${callId} of ${callsMax}`);
    return this.slot();
  }

  freeSlots(callIds: readonly string[]): void {
    this.asked.push(`free ${callIds.join()}`);
  }

  async countSlots(orgId: string): Promise<number> {
    this.asked.push(`count ${orgId}`);
    return this.slotCount;
  }

  async isRinging(callId: string): Promise<boolean> {
    this.asked.push(`rings ${callId}`);
    return this.calls.has(callId);
  }

  async handOver({ callId }: Parameters<OtherNodes["handOver"]>[0]) {
    this.asked.push(`hand over ${callId}`);
    return this.handed;
  }

  async transferSlot(callId: string, to: string): Promise<void> {
    this.asked.push(`give ${callId} to ${to}`);
  }

  async recordsChanged(): Promise<void> {
    this.asked.push("changed");
  }

  async report({ claims: { callId } }: Parameters<OtherNodes["report"]>[0]): Promise<boolean> {
    this.asked.push(`report ${callId}`);
    return this.calls.has(callId);
  }

  async endCall({ callId }: Parameters<OtherNodes["endCall"]>[0]): Promise<boolean> {
    this.asked.push(`end ${callId}`);
    return this.calls.has(callId);
  }

  async controlCall({ callId, command }: Parameters<OtherNodes["controlCall"]>[0]) {
    this.asked.push(`${command.type} ${callId}`);
    return this.calls.has(callId) ? ("done" as const) : ("elsewhere" as const);
  }

  async hasCall(callId: string): Promise<boolean> {
    this.asked.push(`has ${callId}`);
    return this.calls.has(callId);
  }

  subscribe({ topic, isWanted }: Parameters<OtherNodes["subscribe"]>[0]): void {
    this.asked.push(`${isWanted ? "watch" : "leave"} ${topic}`);
  }

  publish({ event }: Parameters<OtherNodes["publish"]>[0]): void {
    this.asked.push(`event ${event.callId}`);
  }

  publishBreaker({ id }: Parameters<OtherNodes["publishBreaker"]>[0]): void {
    this.asked.push(`breaker ${id}`);
  }
}
