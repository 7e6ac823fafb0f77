// Name verification: proves that a customer may enable a name that overlaps another customer's name. The proof is a TXT
// record at the zone's name servers, checked on demand and by a job.
import type { ProofCheck } from '@edgeloom/contract/domains/domains.ts';
import type { Ctx } from '../../core/ctx.ts';
import { openProofs, unprovenNames } from '../../core/enabled-names.ts';
import { fail } from '../../core/fail.ts';
import type { Installation } from '../../core/installation.ts';
import { openDnsLookup } from '../../dns/dns-lookup.ts';
import { readProofs } from './domains.queries.ts';

export interface DueProof {
  id: string;
  name: string;
  token: string;
}

const LOOKS_AT_ONCE = 10;
const MAX_SEEN = 3;
const MAX_SEEN_LENGTH = 100;

export async function check(ctx: Ctx, siteId: string, ids: string[]): Promise<{ data: ProofCheck[] }> {
  const { installation } = ctx;
  const rows = await readProofs(ctx, siteId, ids);
  if (rows.length !== new Set(ids).size) fail('NOT_FOUND');
  const names = rows.map(({ name }) => name);
  // Creates proofs only for names that need one, since the job checks each proof for two weeks.
  const unproven = [...(await unprovenNames(installation, siteId, names))];
  await openProofs(installation, siteId, unproven);
  await lookFor(installation, await restartProofs(installation, siteId, unproven));
  return { data: await readProofs(ctx, siteId, ids) };
}

/** Resets the backoff: the customer has probably just changed the record. Locks rows by id order, as lookFor does. */
async function restartProofs({ pool }: Installation, siteId: string, names: string[]): Promise<DueProof[]> {
  const { rows } = await pool.query<DueProof>(
    `WITH asked AS (
       SELECT p.id FROM name_proofs p JOIN sites s ON p.holder_id = coalesce(s.owner_id, s.client_id)
       WHERE s.id = $1 AND p.name IN (SELECT name_base(n) FROM unnest($2::text[]) n)
       ORDER BY p.id FOR UPDATE OF p)
     UPDATE name_proofs p SET asked_at = now(), tries = 0 FROM asked, proof_tokens t
     WHERE p.id = asked.id AND t.holder_id = p.holder_id RETURNING p.id, p.name, t.token`,
    [siteId, names],
  );
  return rows;
}

/** Looks up the records of these proofs and stores the results. */
export async function lookFor({ pool, env }: Pick<Installation, 'pool' | 'env'>, proofs: DueProof[]): Promise<void> {
  if (proofs.length === 0) return;
  const look = openDnsLookup(env, { refusesAliases: true });
  const found: { id: string; outcome: string; seen: string[] }[] = [];
  const queue = proofs.values();
  const work = async () => {
    for (const { id, name, token } of queue) {
      const { isShown, texts } = await look(`_edgeloom-challenge.${name}`, [token]);
      const others = texts?.filter((text) => text !== token) ?? [];
      const seen = isShown ? [] : others.slice(0, MAX_SEEN).map((text) => text.slice(0, MAX_SEEN_LENGTH));
      found.push({ id, outcome: outcomeOf(isShown, texts, others), seen });
    }
  };
  await Promise.all(Array.from({ length: LOOKS_AT_ONCE }, work));
  // The interval doubles from one minute to six hours; checks end after two weeks.
  await pool.query(
    `WITH looked AS (
       SELECT id FROM name_proofs WHERE id IN (SELECT id FROM jsonb_to_recordset($1::jsonb) f (id uuid)) ORDER BY id FOR UPDATE)
     UPDATE name_proofs p SET looked_at = now(), outcome = f.outcome, tries = p.tries + 1,
       seen = ARRAY(SELECT jsonb_array_elements_text(f.seen)),
       proven_at = CASE WHEN f.outcome = 'shown' THEN now() ELSE p.proven_at END,
       due_at = CASE WHEN f.outcome <> 'shown' AND p.asked_at > now() - interval '14 days'
         THEN now() + least(interval '1 minute' * 2 ^ least(p.tries, 10), interval '6 hours') END
     FROM looked JOIN jsonb_to_recordset($1::jsonb) f (id uuid, outcome text, seen jsonb) ON f.id = looked.id WHERE p.id = looked.id`,
    [JSON.stringify(found)],
  );
}

function outcomeOf(
  isShown: boolean,
  texts: string[] | null,
  others: string[],
): 'shown' | 'silent' | 'other' | 'missing' {
  if (isShown) return 'shown';
  if (texts === null) return 'silent';
  return others.length > 0 ? 'other' : 'missing';
}
