import { parseArgs } from "node:util";
import { alternate } from "./alternation.js";
import { thisMachine } from "./machine.js";
import { type PhoneLoadResult, phonePhrases, runPhoneLoad } from "./phone/phone-load.js";
import { quantile } from "./quantile.js";
import { BenchProcess, LOAD_CORE, pinThisProcess } from "./stand/child-process.js";
import { type HotFunction, Inspector } from "./stand/inspector.js";
import { startPreparedVendors } from "./stand/prepared-vendors.js";
import { UsedByThread } from "./stand/used-by-thread.js";
import { makeEndpoint } from "./webhooks/endpoint.js";
import { wholeNumber } from "./whole-number.js";

/**
 * `node dist/bench/webhooks-beside.js [--calls 200] [--settle 6] [--seconds 30] [--rounds 3] [--profile]`: telephone calls whose events are
 * all delivered, compared with the same calls without an endpoint, in both orders. Fails where the 99th percentile of what the server adds to the
 * first sound grows by 5 %, or the CPU of a call by 3 %. `--profile` says where the time of the session thread goes; the profiler itself takes some of it.
 */
const { values } = parseArgs({
  options: {
    calls: { type: "string", default: "200" },
    settle: { type: "string", default: "6" },
    seconds: { type: "string", default: "30" },
    rounds: { type: "string", default: "3" },
    profile: { type: "boolean", default: false },
  },
});
const SOUND_GROWTH_MAX = 0.05;
const CPU_GROWTH_MAX = 0.03;
const HOTTEST = 60;
const calls = wholeNumber("calls", values.calls);
const settle = wholeNumber("settle", values.settle);
const seconds = wholeNumber("seconds", values.seconds);
const rounds = wholeNumber("rounds", values.rounds);

pinThisProcess();
const plan = {
  callers: calls,
  settleMs: settle * 1_000,
  measureMs: seconds * 1_000,
  turnPeriodMs: 10_000,
  interruptEvery: 4,
};
const spoken = phonePhrases(plan);
const vendors = await startPreparedVendors(spoken, ["elevenlabs"]);
const receiver = await BenchProcess.start({
  script: "webhooks/receiver-process.js",
  env: {},
  core: LOAD_CORE,
  readyPattern: /^(http\S+)$/,
});
const environment = { ALLOW_PRIVATE_PROVIDERS: "true" };
const load = (endpointUrl?: string) => async () => {
  const threads = new UsedByThread();
  let inspector: Inspector | undefined;
  let hottest: Promise<readonly HotFunction[]> | undefined;
  const result = await runPhoneLoad("elevenlabs", vendors, spoken, plan, {
    environment,
    async onServer(server) {
      if (endpointUrl !== undefined) await makeEndpoint(server, endpointUrl);
      if (values.profile) inspector = await Inspector.attach(server.process.inspectorUrl ?? "");
    },
    onMeasuring(server, isOn) {
      threads.note(server, isOn);
      if (isOn) void inspector?.startProfile();
      else hottest = inspector?.hottest(HOTTEST);
    },
  });
  console.log(endpointUrl === undefined ? "no endpoint:" : "every event delivered:");
  console.log(threads.describe().join("\n"));
  for (const { name, place, share } of (await hottest) ?? []) {
    console.log(`  ${(share * 100).toFixed(1).padStart(5)} %  ${name}  ${place}`);
  }
  inspector?.close();
  const ofPart = (part: "audioMs" | "questionMs" | "sentenceMs" | "playMs" | "totalMs") =>
    quantile(
      result.timings.map((timing) => timing[part]),
      0.99,
    ).toFixed(1);
  console.log(
    `  p99 of the first sound ${ofPart("totalMs")} ms; of its parts: audio ${ofPart("audioMs")}, question ${ofPart("questionMs")}, sentence ${ofPart("sentenceMs")}, playing ${ofPart("playMs")}`,
  );
  return result;
};

const measured = (results: readonly PhoneLoadResult[]) => {
  const soundsMs = results.flatMap(({ timings }) => timings.map(({ totalMs }) => totalMs));
  const cpus = results.map(({ cpuMsPerCallSecond }) => cpuMsPerCallSecond);
  return {
    turns: soundsMs.length,
    p50Ms: quantile(soundsMs, 0.5),
    p99Ms: quantile(soundsMs, 0.99),
    cpuMs: cpus.reduce((sum, cpu) => sum + cpu, 0) / cpus.length,
  };
};

try {
  const [off = [], on = []] = await alternate(rounds, [load(), load(receiver.ready)]);
  const [without, delivered] = [measured(off), measured(on)];
  const machine = thisMachine();
  console.log(
    `${machine.cpu}, Node ${machine.node}, ${machine.pinning}, ${new Date().toISOString()}`,
  );
  for (const [title, { turns, p50Ms, p99Ms, cpuMs }] of [
    ["no endpoint", without],
    ["every event delivered", delivered],
  ] as const) {
    console.log(
      `${calls} calls for ${settle} s before, ${title}: ${turns} turns, first sound p50 ${p50Ms.toFixed(2)} ms, p99 ${p99Ms.toFixed(2)} ms; CPU ${cpuMs.toFixed(2)} ms per second of call`,
    );
  }
  const soundGrowth = delivered.p99Ms / without.p99Ms - 1;
  const cpuGrowth = delivered.cpuMs / without.cpuMs - 1;
  const percent = (share: number) => `${share < 0 ? "" : "+"}${(share * 100).toFixed(1)} %`;
  console.log(`first sound p99 ${percent(soundGrowth)}, CPU ${percent(cpuGrowth)}`);
  process.exitCode = soundGrowth < SOUND_GROWTH_MAX && cpuGrowth < CPU_GROWTH_MAX ? 0 : 1;
} finally {
  await receiver.stop();
  await vendors.process.stop();
}
