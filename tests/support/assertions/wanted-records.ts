import type { Installation } from '@edgeloom/api/core/installation.ts';
import { WantedSets, type WantedSet } from '@edgeloom/api/dns-state/sets.ts';

/** The wanted DNS records of a label; null without any. */
export async function wantedRecords({ db }: Installation, label: string): Promise<WantedSet[] | null> {
  const row = await db.dnsTarget.findFirst({ where: { label } });
  return row === null ? null : WantedSets.parse(row.sets);
}
