import { writeFile } from "node:fs/promises";
import * as v from "valibot";
import { FaultsPatch, lifelikeDelays } from "./faults.js";
import { startSandbox } from "./sandbox.js";

/**
 * The sandbox as a process of its own: `node main.js [port]`, or PORT. Prints one line of JSON,
 * `{"urls":…,"port":…}`, when it listens; ends on SIGTERM or SIGINT. SANDBOX_JOURNAL=1 keeps the journal,
 * SANDBOX_LIFELIKE=1 sets typical delays, SANDBOX_FAULTS is the JSON of PUT /sandbox/faults, and
 * SANDBOX_VOICE=speech speaks words instead of tones. SANDBOX_TLS=ca.pem serves the vendors with TLS on the port
 * after it, and writes the certificate to trust into that file.
 */
const { env, argv } = process;
const PORT_EXPECTED = "expected a whole number from 0 to 65535";
const Port = v.pipe(
  v.string(),
  v.regex(/^\d{1,5}$/, PORT_EXPECTED),
  v.transform(Number),
  v.maxValue(65_535, PORT_EXPECTED),
);
const Faults = v.pipe(v.string(), v.parseJson(undefined, "expected JSON"), FaultsPatch);
const port = read("the port", Port, argv[2] ?? env["PORT"] ?? "0");
const given = read("SANDBOX_FAULTS", Faults, env["SANDBOX_FAULTS"] ?? "{}");
const caFile = env["SANDBOX_TLS"] ?? "";

const sandbox = await startSandbox({
  port,
  tls: caFile !== "",
  voice: env["SANDBOX_VOICE"] === "speech" ? "speech" : "tones",
  host: env["HOST"] ?? "127.0.0.1",
  journal: env["SANDBOX_JOURNAL"] === "1",
  faults: env["SANDBOX_LIFELIKE"] === "1" ? { ...lifelikeDelays(), ...given } : given,
});
if (sandbox.caCertificate !== undefined) await writeFile(caFile, sandbox.caCertificate);
console.log(JSON.stringify({ urls: sandbox.urls, port: sandbox.port }));

for (const signal of ["SIGTERM", "SIGINT"] as const) {
  process.once(signal, () => {
    void sandbox.close();
  });
}

/** Input of a person: an invalid value is reported in one line, without a stack. */
function read<Schema extends v.GenericSchema>(
  name: string,
  schema: Schema,
  value: string,
): v.InferOutput<Schema> {
  const parsed = v.safeParse(schema, value);
  if (parsed.success) return parsed.output;
  const [{ message }] = parsed.issues;
  const path = v.getDotPath(parsed.issues[0]);
  console.error(`${path === null ? name : `${name}: ${path}`}: ${message}`);
  console.error("Usage: npm run sandbox -- [PORT]; docs/contributing/sandbox.md has its settings");
  return process.exit(2);
}
