import { type Compilable, type CompiledQuery, type RawBuilder, sql } from "kysely";

/** Stands in a compiled statement for a value of each run. */
class Placeholder {
  readonly name: PropertyKey;

  constructor(name: PropertyKey) {
    this.name = name;
  }
}

type ValueOf<Values> = <Name extends keyof Values>(name: Name) => RawBuilder<Values[Name]>;

/** A statement that Kysely compiles once, for what is run all the time: building it costs more than sending it. */
export class CompiledStatement<Values extends object, Row = unknown> {
  readonly #query: CompiledQuery<Row>;

  constructor(build: (value: ValueOf<Values>) => Compilable<Row>) {
    this.#query = build(
      <Name extends keyof Values>(name: Name) => sql<Values[Name]>`${new Placeholder(name)}`,
    ).compile();
  }

  with(values: Values): Compilable<Row> {
    const byName = new Map<PropertyKey, unknown>(Object.entries(values));
    const parameters = this.#query.parameters.map((parameter) =>
      parameter instanceof Placeholder ? byName.get(parameter.name) : parameter,
    );
    return { compile: () => ({ ...this.#query, parameters }) };
  }
}
