import { writeFileSync } from "node:fs";
import { loadavg } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { packageRoot } from "../api/commands/livestream-local/package-root.js";
import { alternate } from "./alternation.js";
import { type CallLoadResult, type LoadCallers, runCallLoad } from "./load/call-load.js";
import { thisMachine } from "./machine.js";
import { phonePhrases } from "./phone/phone-load.js";
import { createAgent } from "./phone/phone-stand.js";
import { VendorTalker } from "./phone/vendor-talker.js";
import { quantile } from "./quantile.js";
import { pinThisProcess } from "./stand/child-process.js";
import { startPreparedVendors } from "./stand/prepared-vendors.js";
import { startServerStand } from "./stand/stand.js";
import { wholeNumber } from "./whole-number.js";

/**
 * `node dist/bench/mixed-vendors.js [--calls 200] [--seconds 30] [--rounds 3] [--vendors plivo,vonage] [--write]`: calls over the media
 * streams of all vendors, or of the named ones, at the same time, compared with as many of Twilio alone, in turns and with the same
 * callers' code. Fails where the mixed calls need more than 1.05 times the CPU. `--write` keeps the table beside the other results.
 */
const { values } = parseArgs({
  options: {
    calls: { type: "string", default: "200" },
    seconds: { type: "string", default: "30" },
    rounds: { type: "string", default: "3" },
    vendors: {
      type: "string",
      default: "twilio,signalwire,telnyx,plivo,vonage,jambonz,asterisk",
    },
    write: { type: "boolean", default: false },
  },
});
const CPU_RATIO_MAX = 1.05;
const calls = wholeNumber("calls", values.calls);
const seconds = wholeNumber("seconds", values.seconds);
const rounds = wholeNumber("rounds", values.rounds);

const TWILIO = ["twilio"];
const MIXED = values.vendors.split(",");

pinThisProcess();
const plan = {
  callers: calls,
  settleMs: 6_000,
  measureMs: seconds * 1_000,
  turnPeriodMs: 10_000,
  interruptEvery: 4,
};
const spoken = phonePhrases(plan);
const vendors = await startPreparedVendors(spoken, ["elevenlabs"]);

/** Each next call is at the next vendor; its group is the vendor's place in the list. */
const load = (names: readonly string[]) => async (): Promise<CallLoadResult> => {
  const server = await startServerStand(vendors);
  try {
    const agentId = await createAgent(server, "elevenlabs");
    let count = 0;
    const callers: LoadCallers = {
      signs: { voice: "elevenlabs", soundsFrom: "firstByte", stop: "clear" },
      connect: () => {
        const group = count % names.length;
        count += 1;
        const number = String(15_550_000_000 + count);
        return VendorTalker.call(
          { ...server, agentId },
          { vendor: names[group] ?? "", number, group },
        );
      },
    };
    return await runCallLoad(server, vendors, spoken, plan, callers);
  } finally {
    await server.close();
  }
};

const mean = (amounts: readonly number[]) =>
  amounts.reduce((sum, amount) => sum + amount, 0) / amounts.length;
const ms = (value: number) => value.toFixed(2);

function row(title: string, results: readonly CallLoadResult[], group?: number): string {
  const all = results.flatMap(({ timings }) => timings);
  const timings = all.filter((timing) => group === undefined || timing.group === group);
  const times = (share: number) =>
    ms(
      quantile(
        timings.map(({ totalMs }) => totalMs),
        share,
      ),
    );
  const sum = (of: (result: CallLoadResult) => number) =>
    group === undefined ? results.reduce((total, result) => total + of(result), 0) : "";
  const cpus = results.map(({ cpuMsPerCallSecond }) => cpuMsPerCallSecond);
  const cells = [
    title,
    timings.length,
    sum(({ lostCount }) => lostCount),
    sum(({ missedReplies }) => missedReplies),
    times(0.5),
    times(0.99),
    group === undefined ? `${ms(mean(cpus))} (${cpus.map(ms).join(", ")})` : "",
  ];
  return `| ${cells.join(" | ")} |`;
}

try {
  const [alone = [], mixed = []] = await alternate(rounds, [load(TWILIO), load(MIXED)]);
  const cpuOf = (results: readonly CallLoadResult[]) =>
    mean(results.map(({ cpuMsPerCallSecond }) => cpuMsPerCallSecond));
  const ratio = cpuOf(mixed) / cpuOf(alone);
  const isKept = ratio <= CPU_RATIO_MAX;
  const { cores, cpu, node, pinning, commit } = thisMachine();
  const report = `# Telephone calls of mixed vendors

${calls} calls over the media streams of ${MIXED.length} vendors (${MIXED.join(", ")}), compared with ${calls} of Twilio alone, in turns. Each vendor's stream has the format that Parley's document orders: µ-law, at Vonage and Jambonz 16-bit samples. Latency is what the server adds to the first sound of a reply.
Made by \`node dist/bench/mixed-vendors.js --calls ${calls} --seconds ${seconds} --rounds ${rounds} --vendors ${values.vendors}\` on ${new Date().toISOString().slice(0, 10)}, on ${cores} cores of ${cpu}, Node ${node}, ${pinning}, commit ${commit}; load at the end ${(loadavg()[0] ?? 0).toFixed(1)}.

| Calls | Turns | Not followed | Not answered | Latency p50, ms | p99, ms | CPU, ms per second of call: mean (each run) |
|---|---|---|---|---|---|---|
${row("Twilio alone", alone)}
${row("mixed", mixed)}
${MIXED.map((name, group) => row(`of these, ${name}`, mixed, group)).join("\n")}

CPU of the mixed calls beside Twilio alone: ${ratio.toFixed(3)}, at most ${CPU_RATIO_MAX}: ${isKept ? "held" : "MISSED"}.
`;
  console.log(report);
  if (values.write) writeFileSync(join(packageRoot(), "bench/results/mixed-vendors.md"), report);
  process.exitCode = isKept ? 0 : 1;
} finally {
  await vendors.process.stop();
}
