const DAY_MS = 86_400_000;

export const inDays = (days: number, from: Date) => new Date(from.getTime() + days * DAY_MS).toISOString();

/** The last moment of a day as the reader's clock has it: `2026-12-31` includes New Year's Eve. */
export function dayEnding(day: string): string {
  const end = new Date(`${day}T23:59:59`);
  return Number.isNaN(end.getTime()) ? '' : end.toISOString();
}
