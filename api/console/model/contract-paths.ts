import type { GenericSchema, InferInput, InferOutput } from "valibot";
import type { ErrorBody } from "../../contract/fields.js";
import type { Route } from "../../contract/routes/route.js";
import type { RouteTable } from "../../contract/routes/route-table.js";

type Rows = RouteTable[keyof RouteTable];
type InBraces<Path extends string> = Path extends `${infer Before}:id${infer After}`
  ? `${Before}{id}${After}`
  : Path;
type RowsAt<Path extends string> = Extract<Rows, { readonly path: Path }>;

type QueryParameter<R extends Route> = R["query"] extends GenericSchema
  ? { query?: Partial<Record<keyof InferInput<R["query"]>, string | number | boolean>> }
  : { query?: never };
type PathParameter<R extends Route> = R["path"] extends `${string}:id${string}`
  ? { path: { id: string } }
  : { path?: never };
type RequestBody<R extends Route> = R["body"] extends GenericSchema
  ? { requestBody: { content: { "application/json": InferInput<R["body"]> } } }
  : { requestBody?: never };

/** One row of the route table, in the words of openapi-typescript, which openapi-fetch reads. */
type OperationOf<R extends Route> = {
  parameters: QueryParameter<R> & PathParameter<R>;
  responses: {
    200: { content: { "application/json": InferOutput<R["success"]["schema"]> } };
    default: { content: { "application/json": InferOutput<typeof ErrorBody> } };
  };
} & RequestBody<R>;

/** The API as the console sees it: the server's own route table, so it cannot be out of date. */
export type ContractPaths = {
  [Path in Rows["path"] as InBraces<Path>]: {
    [Method in RowsAt<Path>["method"]]: OperationOf<
      Extract<RowsAt<Path>, { readonly method: Method }>
    >;
  };
};

/** What a route answers with when all is well. */
export type Answered<Id extends keyof RouteTable> = InferOutput<
  RouteTable[Id]["success"]["schema"]
>;
/** What a route takes. */
export type Sent<Id extends keyof RouteTable> = RouteTable[Id] extends {
  readonly body: infer Body extends GenericSchema;
}
  ? InferInput<Body>
  : never;
