import { nothing, percent } from '../../lib/format.ts';

type CardKind = 'traffic' | 'requests' | 'hitRate' | 'addresses' | 'bandwidth95';

export interface Change {
  text: string;
  /** In percentage points, for a share. */
  isPoints: boolean;
  tone: 'ok' | 'bad' | null;
}

const signed = (text: string) => (/^−|^0\.00%?$/.test(text) ? text : `+${text}`);

/** The change against the period before. Null when there is nothing to compare with. */
export function changeOf(kind: CardKind, value: number | null, previous: number | null): Change | null {
  if (value === null || previous === null) return null;
  if (kind === 'hitRate') {
    const points = Math.round((value - previous) * 10_000) / 100;
    const text = signed(points.toFixed(2).replace('-', '−'));
    // Only a share of hits has a good direction: more traffic is neither good nor bad.
    return { text, isPoints: true, tone: points === 0 ? null : points > 0 ? 'ok' : 'bad' };
  }
  if (previous === 0) return value === 0 ? { text: percent(0), isPoints: false, tone: null } : null;
  return { text: signed(percent((value - previous) / previous)), isPoints: false, tone: null };
}

/** `21.47 TB` as number and unit. */
export function parted(text: string): { number: string; unit: string } {
  if (text === nothing) return { number: text, unit: '' };
  const [, number = text, unit = ''] = /^([−\d.,]+)[\u00a0 ]?(.*)$/.exec(text) ?? [];
  return { number, unit };
}
