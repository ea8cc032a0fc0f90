type Listener<Event> = (event: Event) => void;

/** An event emitter with the event names of `Events`. */
export class Announcer<Events extends object> {
  readonly #listeners: { [Name in keyof Events]?: Set<Listener<Events[Name]>> } = {};

  /** Returns an unsubscribe function. */
  on<Name extends keyof Events>(name: Name, listener: Listener<Events[Name]>): () => void {
    const listeners = (this.#listeners[name] ??= new Set());
    listeners.add(listener);
    return () => void listeners.delete(listener);
  }

  /** An exception in a listener does not affect the others: it becomes an uncaught error of the page. */
  emit<Name extends keyof Events>(name: Name, event: Events[Name]): void {
    for (const listener of this.#listeners[name] ?? []) {
      try {
        listener(event);
      } catch (error) {
        queueMicrotask(() => {
          throw error;
        });
      }
    }
  }
}
