import type { Installation } from '@edgeloom/api/core/installation.ts';

/** Outbox entries of a zone, in order. The test app has no publisher, so entries stay. */
export async function outboxKeys({ db }: Pick<Installation, 'db'>, zoneId: string): Promise<string[]> {
  const rows = await db.outbox.findMany({ where: { zoneId }, orderBy: { id: 'asc' } });
  return rows.map(({ key }) => key);
}
