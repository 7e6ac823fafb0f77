// The keys that a zone's nodes must hold: the current one, and the other one during a change. Read by the node link in
// plain SQL and by joins in their transaction.
import { KeyID } from '@edgeloom/contract/edge/sealed.ts';
import type { ZoneKeys } from '@edgeloom/contract/edge/sealed.ts';
import { contexts } from '../core/secrets.ts';
import type { Secrets } from '../core/secrets.ts';
import type { Prisma } from '../generated/client.ts';

export interface RingKey {
  name: string;
  sealed: string;
}

/** States in which a zone has two keys. */
export const UNDER_WAY = ['delivering', 'sealing', 'retiring'] as const;
const isUnderWay = `c.state IN (${UNDER_WAY.map((state) => `'${state}'`).join(', ')})`;

/** For a zone `z`: names and keys, the current one first. */
export const ringNames = `array_cat(ARRAY[z.key_name],
  ARRAY(SELECT c.other_key FROM zone_key_changes c WHERE c.zone_id = z.id AND ${isUnderWay}))`;
export const ringColumn = `array_cat(ARRAY[jsonb_build_object('name', z.key_name, 'sealed', z.key_sealed)],
  ARRAY(SELECT jsonb_build_object('name', c.other_key, 'sealed', c.other_key_sealed) FROM zone_key_changes c
    WHERE c.zone_id = z.id AND ${isUnderWay}))`;

/** Empty for an unknown zone. */
export async function zoneRing(tx: Prisma.TransactionClient, zoneId: string): Promise<RingKey[]> {
  const zone = await tx.zone.findUnique({
    where: { id: zoneId },
    select: {
      keyName: true,
      keySealed: true,
      keyChanges: { where: { state: { in: [...UNDER_WAY] } }, select: { otherKey: true, otherKeySealed: true } },
    },
  });
  if (zone === null) return [];
  const others = zone.keyChanges.flatMap(({ otherKey: name, otherKeySealed: sealed }) =>
    name === null || sealed === null ? [] : [{ name, sealed }],
  );
  return [{ name: zone.keyName, sealed: zone.keySealed }, ...others];
}

export const openRing = (secrets: Pick<Secrets, 'open'>, zoneId: string, ring: readonly RingKey[]): ZoneKeys =>
  ring.map(({ name, sealed }) => ({ id: KeyID.parse(name), key: secrets.open(sealed, contexts.zoneKey(zoneId)) }));
