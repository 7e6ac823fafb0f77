import type { Installation } from '@edgeloom/api/core/installation.ts';

/** What waits to be published in a zone, in order. The test's app has no node link, so nothing takes it away. */
export async function published({ db }: Pick<Installation, 'db'>, zoneId: string): Promise<string[]> {
  const rows = await db.outbox.findMany({ where: { zoneId }, orderBy: { id: 'asc' } });
  return rows.map(({ key }) => key);
}
