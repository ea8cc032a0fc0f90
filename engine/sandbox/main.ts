import * as v from "valibot";
import { FaultsPatch, lifelikeDelays } from "./faults.js";
import { startSandbox } from "./sandbox.js";

/**
 * The sandbox as a process of its own: `node main.js [port]`, or PORT. Prints one line of JSON, `{"urls":…,"port":…}`,
 * when it listens; ends on SIGTERM or SIGINT. SANDBOX_JOURNAL=1 keeps the journal, SANDBOX_LIFELIKE=1 sets the delays of
 * an ordinary day, SANDBOX_FAULTS is the JSON of PUT /sandbox/faults.
 */
const { env, argv } = process;
const Port = v.pipe(v.string(), v.toNumber(), v.integer(), v.minValue(0), v.maxValue(65_535));
const port = v.parse(Port, argv[2] ?? env["PORT"] ?? "0");
const given = v.parse(
  v.pipe(v.string(), v.parseJson(), FaultsPatch),
  env["SANDBOX_FAULTS"] ?? "{}",
);

const sandbox = await startSandbox({
  port,
  host: env["HOST"] ?? "127.0.0.1",
  journal: env["SANDBOX_JOURNAL"] === "1",
  faults: env["SANDBOX_LIFELIKE"] === "1" ? { ...lifelikeDelays(), ...given } : given,
});
console.log(JSON.stringify({ urls: sandbox.urls, port: sandbox.port }));

for (const signal of ["SIGTERM", "SIGINT"] as const) {
  process.once(signal, () => {
    void sandbox.close();
  });
}
