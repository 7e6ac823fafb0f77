// Where keep-logs.ts finds the logs of programs that this worker started.

/** Folders of programs, which log to files. Those of tests that ended no longer exist. */
export const testDirs = new Set<string>();

/** Logs of agents that were started and not stopped. An agent writes to its standard error. */
export const agentLogs = new Set<Record<string, unknown>[]>();
