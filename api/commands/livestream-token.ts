import { loadEnvFile } from "../../engine/settings.js";
import { SystemClock } from "../../engine/time/clock.js";
import { parseLiveStreamConfig } from "../livestream/livestream-config.js";
import { issueViewToken } from "../livestream/view-tokens.js";
import { STREAM_KEY } from "../livestream/webhook-form.js";
import { type Command, parseCommandLine, runCommand } from "./command.js";
import { CommandError, UsageError } from "./command-error.js";
import { processTerminal } from "./terminal.js";

const USAGE = `Usage: npm run livestream:token -- STREAM [--hours 24]

Makes a token with which the private stream can be watched for so long, and prints what to add to the page's address and to a
player's. Signed with VIEW_TOKEN_SECRET, from the environment or .env: the same as the state API's.`;

const HOURS = /^[1-9]\d{0,4}$/;
const HOUR_MS = 3_600_000;

const command: Command = {
  usage: USAGE,
  async run(args, terminal) {
    const { positionals, values } = parseCommandLine({
      args: [...args],
      allowPositionals: true,
      options: { hours: { type: "string", default: "24" } },
    });
    const [streamKey = "", ...others] = positionals;
    if (!STREAM_KEY.test(streamKey) || others.length > 0) {
      throw new UsageError("expected one stream: 1 to 64 letters, digits, hyphens or underscores");
    }
    if (!HOURS.test(values.hours)) throw new UsageError("--hours: expected 1 to 99999");
    const { viewTokenSecret } = parseLiveStreamConfig(process.env);
    if (viewTokenSecret === undefined) throw new CommandError("VIEW_TOKEN_SECRET is not set");
    const expiresAtMs = new SystemClock().epochMs() + Number(values.hours) * HOUR_MS;
    const token = issueViewToken(viewTokenSecret, streamKey, expiresAtMs);
    terminal.print(`Until   ${new Date(expiresAtMs).toISOString()}`);
    terminal.print(`Page    /#/${streamKey}/${token}`);
    terminal.print(`Player  /hls/~${token}/${streamKey}/master.m3u8`);
    terminal.print(`WHEP    /whep/${streamKey}?token=${token}`);
  },
};

loadEnvFile(process.env);
process.exitCode = await runCommand(command, process.argv.slice(2), processTerminal());
