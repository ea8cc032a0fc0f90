import type { ChainDeps, ChainTimeouts } from "../../engine/calls/agent-vendors.js";
import type { Logger } from "../../engine/log.js";
import type { CredentialCipher } from "../../engine/security/credential-cipher.js";
import { VendorClients } from "../../engine/tenancy/providers/vendor-clients.js";
import type { Clock } from "../../engine/time/clock.js";
import { AnswerTimes } from "../../engine/vendors/chain/answer-times.js";
import { type BreakerExchange, Breakers } from "../../engine/vendors/chain/breakers.js";
import { Hedging } from "../../engine/vendors/chain/llm-chain.js";
import { SpeechDurations } from "../../engine/vendors/chain/speech-durations.js";
import { LearnedParameters } from "../../engine/vendors/learned-parameters.js";
import type { Connections } from "../../engine/vendors/transport/connections.js";
import type { VendorUrls } from "../../engine/vendors/vendor-environment.js";

export interface VendorAccessParts {
  readonly settings: {
    readonly platformUrls: VendorUrls;
    /** From 0 to 100. */
    readonly hedgingTokensPercent: number;
    readonly chainTimeouts: ChainTimeouts;
  };
  readonly connections: Connections;
  readonly cipher: CredentialCipher;
  /** The connection to other processes with the same credentials; undefined if there are none. */
  readonly breakerExchange: BreakerExchange | undefined;
  readonly clock: Clock;
  readonly log: Logger;
}

/** The parts that a process needs for requests to agents' vendors. */
export function vendorAccess(parts: VendorAccessParts) {
  const { settings, connections, cipher, breakerExchange, clock, log } = parts;
  const learned = new LearnedParameters((provider, { modelId, parameter, value, sentAs }) => {
    const facts = { providerId: provider.id, modelId, parameter, value, sentAs };
    log.warn(facts, "the model refused a parameter; it is dropped or replaced from now on");
  });
  const context = { clock, connections, learned };
  const clients = new VendorClients(cipher, { ...settings.platformUrls }, context);
  const chains: ChainDeps & { readonly breakers: Breakers } = {
    clients,
    breakers: new Breakers(clock, breakerExchange),
    timeouts: settings.chainTimeouts,
    times: new AnswerTimes(),
    durations: new SpeechDurations(),
    hedging: new Hedging(settings.hedgingTokensPercent / 100),
    clock,
  };
  return { learned, context, clients, chains };
}
