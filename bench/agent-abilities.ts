import { writeFileSync } from "node:fs";
import { loadavg } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { packageRoot } from "../api/commands/livestream-local/package-root.js";
import { abilities, requireTools } from "./abilities/able-agent.js";
import { alternate } from "./alternation.js";
import type { TurnTiming } from "./load/turn-timing.js";
import { thisMachine } from "./machine.js";
import { type PhoneLoadResult, phonePhrases, runPhoneLoad } from "./phone/phone-load.js";
import { quantile } from "./quantile.js";
import { BenchProcess, LOAD_CORE, pinThisProcess } from "./stand/child-process.js";
import { type HotFunction, Inspector } from "./stand/inspector.js";
import { startPreparedVendors } from "./stand/prepared-vendors.js";
import { wholeNumber } from "./whole-number.js";

/**
 * `node dist/bench/agent-abilities.js [--calls 200] [--seconds 30] [--rounds 3] [--together] [--profile] [--write]`: telephone calls of an agent
 * with five MCP tools, knowledge and variables, compared with the same calls of an agent without them, in both orders. Fails where
 * p50 or p99 of what the server adds to the first sound differs by more than 5 ms. With `--together` half of the calls are with each
 * agent, on one server at the same time, so that a machine with other work on it is the same for both. `--profile` says where the time of the session
 * thread goes; `--write` keeps the table beside the other results.
 */
const { values } = parseArgs({
  options: {
    calls: { type: "string", default: "200" },
    seconds: { type: "string", default: "30" },
    rounds: { type: "string", default: "3" },
    together: { type: "boolean", default: false },
    profile: { type: "boolean", default: false },
    write: { type: "boolean", default: false },
  },
});
const DIFFERENCE_MAX_MS = 5;
const HOTTEST = 60;
const calls = wholeNumber("calls", values.calls);
const seconds = wholeNumber("seconds", values.seconds);
const rounds = wholeNumber("rounds", values.rounds);

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
const business = await BenchProcess.start({
  script: "abilities/business-process.js",
  env: {},
  core: LOAD_CORE,
  readyPattern: /^(http\S+)$/,
});
const load = (isAble: boolean) => async () => {
  let inspector: Inspector | undefined;
  let hottest: Promise<readonly HotFunction[]> | undefined;
  const result = await runPhoneLoad("elevenlabs", vendors, spoken, plan, {
    environment: { ALLOW_PRIVATE_PROVIDERS: "true" },
    ...(isAble && {
      agent: {
        fields: (server) => abilities(server, business.ready, spoken),
        made: requireTools,
        isBesidePlain: values.together,
      },
    }),
    async onServer(server) {
      if (values.profile) inspector = await Inspector.attach(server.process.inspectorUrl ?? "");
    },
    onMeasuring(_server, isOn) {
      if (isOn) void inspector?.startProfile();
      else hottest = inspector?.hottest(HOTTEST);
    },
  });
  for (const { name, place, share } of (await hottest) ?? []) {
    console.log(`  ${(share * 100).toFixed(1).padStart(5)} %  ${name}  ${place}`);
  }
  inspector?.close();
  return result;
};

const measured = (results: readonly PhoneLoadResult[], group?: number) => {
  const all = results.flatMap((result) => result.timings);
  const timings = all.filter((timing) => group === undefined || timing.group === group);
  const cpus = results.map(({ cpuMsPerCallSecond }) => cpuMsPerCallSecond);
  const part = (name: keyof TurnTiming, share: number) =>
    quantile(
      timings.map((timing) => timing[name]),
      share,
    );
  return {
    turns: timings.length,
    lost: results.reduce((sum, { lostCount }) => sum + lostCount, 0),
    missed: results.reduce((sum, { missedReplies }) => sum + missedReplies, 0),
    p50Ms: part("totalMs", 0.5),
    p99Ms: part("totalMs", 0.99),
    questionP50Ms: part("questionMs", 0.5),
    questionP99Ms: part("questionMs", 0.99),
    cpuMs: cpus.reduce((sum, cpu) => sum + cpu, 0) / cpus.length,
  };
};

try {
  const loads = values.together ? [load(true)] : [load(false), load(true)];
  const [first = [], second = first] = await alternate(rounds, loads);
  const [without, having] = values.together
    ? [measured(first, 0), measured(first, 1)]
    : [measured(first), measured(second)];
  const row = (title: string, of: typeof without) => {
    const times = [of.p50Ms, of.p99Ms, of.questionP50Ms, of.questionP99Ms, of.cpuMs];
    const shown = times.map((value) => value.toFixed(2)).join(" | ");
    return `| ${title} | ${of.turns} | ${of.lost} | ${of.missed} | ${shown} |`;
  };
  const p50Ms = having.p50Ms - without.p50Ms;
  const p99Ms = having.p99Ms - without.p99Ms;
  const isKept = Math.max(p50Ms, p99Ms) <= DIFFERENCE_MAX_MS;
  const { cores, cpu, node, pinning, commit } = thisMachine();
  const machine = `${cores} cores of ${cpu}, Node ${node}, ${pinning}, commit ${commit}`;
  const order = values.together ? " --together" : "";
  const options = `--calls ${calls} --seconds ${seconds} --rounds ${rounds}${order}`;
  const report = `# An agent with tools, knowledge and variables

${calls} telephone calls of an agent with five MCP tools, ten documents that each turn searches, variables and a request before the call, compared with the same calls of an agent without them, in one run${values.together ? ", half of them at the same time with each agent; what was not followed or answered, and the CPU, is of both" : ""}. What the server adds to the first sound of a reply may differ by ${DIFFERENCE_MAX_MS} ms.
Made by \`node dist/bench/agent-abilities.js ${options}\` on ${new Date().toISOString().slice(0, 10)}, on ${machine}; load at the end ${(loadavg()[0] ?? 0).toFixed(1)}.

| Agent | Turns | Not followed | Not answered | First sound p50, ms | p99, ms | End of speech to the model p50, ms | p99, ms | CPU, ms per second of call |
|---|---|---|---|---|---|---|---|---|
${row("without", without)}
${row("with", having)}

Difference of the first sound: p50 ${p50Ms.toFixed(2)} ms, p99 ${p99Ms.toFixed(2)} ms; ${isKept ? "held" : "MISSED"}.
`;
  console.log(report);
  if (values.write) {
    writeFileSync(join(packageRoot(), "bench/results/agent-abilities.md"), report);
  }
  process.exitCode = isKept ? 0 : 1;
} finally {
  await business.stop();
  await vendors.process.stop();
}
