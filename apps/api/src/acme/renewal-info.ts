// ACME Renewal Information (RFC 9773): an authority may request early renewal, for example before it revokes.
import { X509Certificate } from 'node:crypto';
import { AuthorityKeyIdentifierExtension, X509Certificate as Parsed } from '@peculiar/x509';
import acme from 'acme-client';
import * as z from 'zod';
import { trust } from './client.ts';
import type { Deps } from './order.ts';

const AT_ONCE = 50;
const HOUR_MS = 3_600_000;
const Directory = z.object({ renewalInfo: z.url().optional() });
const Info = z.object({ suggestedWindow: z.object({ start: z.coerce.date(), end: z.coerce.date() }) });

/** The authority's identifier of a certificate. Both arguments are hexadecimal. */
export function renewalId(keyIdentifier: string, serial: string): string {
  const even = serial.length % 2 === 0 ? serial : `0${serial}`;
  // DER integers with a high first bit would be negative.
  const positive = /^[89a-f]/i.test(even) ? `00${even}` : even;
  return [keyIdentifier, positive].map((hex) => Buffer.from(hex, 'hex').toString('base64url')).join('.');
}

function idOf(chainPem: string): string | null {
  const leaf = new X509Certificate(chainPem);
  const keyIdentifier = new Parsed(leaf.raw).getExtension(AuthorityKeyIdentifierExtension)?.keyId;
  return keyIdentifier === undefined ? null : renewalId(keyIdentifier, leaf.serialNumber);
}

/** Returns the number of requests. */
export async function askRenewals({ env, pool }: Deps, now: Date): Promise<number> {
  await trust(env.ACME_AUTHORITIES);
  const { rows } = await pool.query<{ id: string; ca: string; chainPem: string }>(
    `WITH due AS (
       UPDATE certificates SET ask_at = $1::timestamptz + interval '6 hours'
       WHERE id IN (SELECT id FROM certificates WHERE type = 'automatic' AND ask_at <= $1 ORDER BY ask_at LIMIT $2 FOR UPDATE SKIP LOCKED)
       RETURNING id)
     SELECT DISTINCT ON (due.id) due.id, p.ca, p.chain_pem AS "chainPem"
     FROM due JOIN certificate_pairs p ON p.certificate_id = due.id WHERE p.ca IS NOT NULL ORDER BY due.id, p.not_after`,
    [now, AT_ONCE],
  );
  await Promise.all(
    rows.map(async ({ id, ca, chainPem }) => {
      // An authority that does not respond is queried again in six hours.
      const window = await ask(ca, chainPem).catch(() => null);
      if (!window) return;
      const { start, end, again } = window;
      const chosen = new Date(start.getTime() + (end.getTime() - start.getTime()) * Math.random());
      await pool.query(
        'UPDATE certificates SET next_at = least(next_at, $2), ask_at = $3 WHERE id = $1 AND next_at IS NOT NULL',
        [id, chosen, new Date(now.getTime() + again)],
      );
    }),
  );
  return rows.length;
}

async function ask(directory: string, chainPem: string): Promise<{ start: Date; end: Date; again: number } | null> {
  const { renewalInfo } = Directory.parse((await acme.axios.get<unknown>(directory)).data);
  const id = idOf(chainPem);
  if (renewalInfo === undefined || id === null) return null;
  const { data, headers } = await acme.axios.get<unknown>(`${renewalInfo}/${id}`);
  const { start, end } = Info.parse(data).suggestedWindow;
  const again = Number(headers['retry-after']) * 1000;
  return { start, end, again: Math.min(Math.max(again || 6 * HOUR_MS, HOUR_MS), 24 * HOUR_MS) };
}
