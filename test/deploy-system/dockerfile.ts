export interface Step {
  readonly instruction: string;
  readonly words: string;
}

export interface Stage {
  readonly image: string;
  readonly name: string | undefined;
  readonly steps: readonly Step[];
}

const INSTRUCTIONS = new Set(
  "ARG CMD COPY ENTRYPOINT ENV EXPOSE FROM HEALTHCHECK LABEL RUN STOPSIGNAL USER VOLUME WORKDIR".split(
    " ",
  ),
);

/**
 * Parses the stages of a Dockerfile. Throws at an instruction that it does not know, since the tests would not execute
 * it.
 */
export function parseDockerfile(text: string): readonly Stage[] {
  const joined = text.replace(/^#.*\n/gm, "").replace(/\\\n/g, " ");
  const stages: { image: string; name: string | undefined; steps: Step[] }[] = [];
  for (const line of joined.split("\n")) {
    const [, instruction = "", words = ""] = /^\s*(\S+)\s*(.*?)\s*$/.exec(line) ?? [];
    if (instruction === "") continue;
    if (!INSTRUCTIONS.has(instruction)) throw new Error(`Dockerfile: what is ${instruction}?`);
    if (instruction === "FROM") {
      const [image = "", , name] = words.split(" ");
      stages.push({ image, name, steps: [] });
    } else {
      const stage = stages.at(-1);
      if (stage === undefined) throw new Error(`Dockerfile: ${instruction} before FROM`);
      stage.steps.push({ instruction, words });
    }
  }
  return stages;
}
