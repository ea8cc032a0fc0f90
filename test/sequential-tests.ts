import asyncHooks, { AsyncResource } from "node:async_hooks";

/**
 * Loads Node's test runner without the hook by which it follows every promise and socket of a process, only to know whose test
 * each belongs to: that costs a sixth of what the tests themselves do. Here it is the test, hook or suite whose body has begun
 * last and not ended; where several run at once, an error that reaches no test may be told of a neighbour. To be imported
 * before anything that imports `node:test`.
 */

type Init = NonNullable<asyncHooks.HookCallbacks["init"]>;

/** Those whose bodies run, in the order in which they began. */
const running = new Set<AsyncResource>();
let noteResource: Init = () => {};

/** What the runner derives its tests, hooks and suites from. */
class FollowedResource extends AsyncResource {
  constructor(type: string, options?: number | asyncHooks.AsyncResourceOptions) {
    super(type, options);
    noteResource(this.asyncId(), type, this.triggerAsyncId(), this);
  }

  override runInAsyncScope<This, Result>(
    body: (this: This, ...args: unknown[]) => Result,
    thisArg?: This,
    ...args: unknown[]
  ): Result {
    const isOver = () => running.delete(this);
    running.add(this);
    let result: Result | undefined;
    try {
      result = super.runInAsyncScope(body, thisArg, ...args);
      return result;
    } finally {
      if (result instanceof Promise) result.then(isOver, isOver);
      else isOver();
    }
  }
}

/** The body of a test that has failed by an error that it let go of may never end. */
function current(): AsyncResource | undefined {
  return [...running].findLast((resource) => Reflect.get(resource, "finished") !== true);
}

const { createHook, executionAsyncId } = asyncHooks;
Object.assign(asyncHooks, {
  AsyncResource: FollowedResource,
  createHook: (callbacks: asyncHooks.HookCallbacks): asyncHooks.AsyncHook => {
    noteResource = (...made) => callbacks.init?.(...made);
    const hook = { enable: () => hook, disable: () => hook };
    return hook;
  },
  executionAsyncId: () => current()?.asyncId() ?? executionAsyncId(),
});
await import("node:test");
Object.assign(asyncHooks, { AsyncResource, createHook, executionAsyncId });
