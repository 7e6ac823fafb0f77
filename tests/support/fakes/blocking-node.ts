// A joined node without an agent, which reports blocked addresses and reads the zone's list.
import { randomBytes } from 'node:crypto';
import { blocksPage } from '@edgeloom/api/node-link/block-pushes.ts';
import { storeBlockReports } from '@edgeloom/api/node-link/block-reports.ts';
import type { BlockReport } from '@edgeloom/contract/edge/messages.ts';
import type pg from 'pg';

export type BlocksPage = Awaited<ReturnType<typeof blocksPage>>;

export async function blockingNode(pool: pg.Pool, zone: { id: string }, ip = '192.0.2.1') {
  const { rows } = await pool.query<{ id: string }>(
    `INSERT INTO nodes (id, zone_id, name, ip, public_key, joined_at, updated_at)
     VALUES (gen_random_uuid(), $1, $2, $3, $2, now(), now()) RETURNING id`,
    [zone.id, randomBytes(8).toString('hex'), ip],
  );
  const nodeId = rows[0]?.id ?? '';
  return {
    nodeId,
    say: async (
      networks: string[],
      over: Partial<BlockReport> = {},
      cause = 'antiCC',
      siteID: string | null = null,
    ) => {
      const blocks = networks.map((network) => ({ network, cause, siteID, seconds: 300 }));
      const message = { revision: 0, size: 0, dropped: 0, fault: '', blocks, ...over };
      const [reply] = await storeBlockReports(pool, [{ nodeId, message }]);
      return reply;
    },
    after: (revision: number) => blocksPage(pool, nodeId, revision),
  };
}
