export function lockFile(name: string): string;
export function withMachineLock<Result>(
  name: string,
  task: (fd: number) => Promise<Result>,
  onWait: () => void,
  maxWaitSeconds?: number,
): Promise<Result>;
