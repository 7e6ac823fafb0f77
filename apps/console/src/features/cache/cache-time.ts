// Splits a TTL into a number and the largest unit that divides it.
export const units = ['seconds', 'minutes', 'hours', 'days'] as const;
export type Unit = (typeof units)[number];
const sizes: Record<Unit, number> = { seconds: 1, minutes: 60, hours: 3600, days: 86_400 };

export const isUnit = (text: string | null): text is Unit => units.some((unit) => unit === text);

export function inLargestUnit(seconds: number): { count: number; unit: Unit } {
  const unit = units.findLast((name) => seconds % sizes[name] === 0 && seconds >= sizes[name]) ?? 'seconds';
  return { count: seconds / sizes[unit], unit };
}
export const secondsOf = (count: number, unit: Unit) => Math.round(count * sizes[unit]);
