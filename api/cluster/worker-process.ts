/**
 * Started by the primary, never by hand: one of the processes that carry its calls. It watches the primary before
 * it loads anything else: if the primary is killed meanwhile it ends immediately, and the next start finds no
 * leftover process.
 */
// The primary gets the signal and passes it on: a terminal and a service manager signal all processes.
process.on("SIGTERM", () => undefined);
process.on("SIGINT", () => undefined);
// Without the primary nothing of a call can be stored.
process.once("disconnect", () => process.exit());
if (!process.connected) process.exit();
await import("./worker-runtime.js");
