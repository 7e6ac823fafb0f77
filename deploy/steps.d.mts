export function step<T>(
  name: string,
  task: (report: (text: string) => void) => Promise<T> | T,
  options?: { quiet?: (result: T) => boolean },
): Promise<T>;
export function line(text: string): void;
export class Trouble extends Error {}
