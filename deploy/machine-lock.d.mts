export function withMachineLock<Result>(name: string, task: () => Promise<Result>, onWait: () => void): Promise<Result>;
