// A killed npm test must not leave its parts running.
const LOOK_EVERY_MS = 500;

/** Ends this process when the one that started it is gone, however that ended. */
export function endWithParent(): void {
  const parent = process.ppid;
  setInterval(() => process.ppid === parent || process.exit(1), LOOK_EVERY_MS).unref();
}
