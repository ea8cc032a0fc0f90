/**
 * Started by the process that owns the server, never by hand: one of the processes that carry its calls. It watches the primary before it
 * loads anything else: one whose primary is killed meanwhile ends at once, and the next start finds nothing of it.
 */
// The primary gets the signal and passes it on: a terminal and a service manager signal every process of theirs.
process.on("SIGTERM", () => undefined);
process.on("SIGINT", () => undefined);
// Without the primary nothing of a call can be stored.
process.once("disconnect", () => process.exit());
if (!process.connected) process.exit();
await import("./worker-runtime.js");
