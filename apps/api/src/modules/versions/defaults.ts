// Default values of fields. A created or removed row lists only the fields that differ from them.
import { DomainInput, UpstreamInput } from '@edgeloom/contract/domains/domains.ts';
import { AntiRefererInput } from '@edgeloom/contract/hotlink/hotlink.ts';
import { CorsInput } from '@edgeloom/contract/modules/cors.ts';
import { RedirectInput } from '@edgeloom/contract/modules/redirects.ts';
import { ForwardInput } from '@edgeloom/contract/ports/ports.ts';
import type pg from 'pg';
import * as z from 'zod';
import type { Installation } from '../../core/installation.ts';
import { siteRules } from '../../site-rules.ts';
import { WITHOUT_ROW } from '../compression/defaults.ts';
import { areaOf, fieldName, type Defaults } from './difference.ts';

const inputs: Readonly<Record<string, z.ZodObject>> = {
  domains: DomainInput,
  upstreams: UpstreamInput,
  port_upstreams: UpstreamInput,
  anti_referers: AntiRefererInput,
  port_rules: ForwardInput,
  redirects: RedirectInput,
  ...Object.fromEntries(siteRules.map(({ table, input }) => [table, input])),
};

function defaultsIn(schema: z.ZodObject, prefix = ''): [string, unknown][] {
  return Object.entries(schema.shape).flatMap(([name, field]): [string, unknown][] => {
    const missing = z.safeParse(field, undefined);
    return missing.success && missing.data !== undefined ? [[`${prefix}${name}`, missing.data]] : [];
  });
}

const known = new WeakMap<pg.Pool, Promise<Defaults>>();

/**
 * By entity and field, as the API names them. Defaults of the call's schema take precedence over those of the table.
 */
export function defaultsOf({ pool }: Pick<Installation, 'pool'>): Promise<Defaults> {
  const found = known.get(pool) ?? read(pool);
  known.set(pool, found);
  found.catch(() => known.delete(pool));
  return found;
}

async function read(pool: pg.Pool): Promise<Defaults> {
  const columns = await columnDefaults(pool);
  const all = Object.keys(areaOf).map((entity): [string, Map<string, unknown>] => {
    const input = inputs[entity];
    return [entity, new Map([...(columns.get(entity) ?? []), ...(input ? defaultsIn(input) : [])])];
  });
  return new Map<string, ReadonlyMap<string, unknown>>([
    ...all,
    ['compressions', new Map(Object.entries(WITHOUT_ROW))],
    ['modules', new Map(defaultsIn(CorsInput, 'settings.'))],
  ]);
}

/** A literal with its type, as PostgreSQL writes it. Functions such as now() have no fixed value. */
const literal = /^(?:'(?:[^']|'')*'|-?\d+(?:\.\d+)?|true|false|ARRAY\[\])(?:::[\w" ]+(?:\[\])?)?$/;

async function columnDefaults(pool: pg.Pool) {
  const { rows } = await pool.query<{ entity: string; column: string; value: string }>(
    `SELECT c.relname AS entity, a.attname AS column, pg_get_expr(d.adbin, d.adrelid) AS value
     FROM pg_attrdef d JOIN pg_class c ON c.oid = d.adrelid
       JOIN pg_attribute a ON a.attrelid = d.adrelid AND a.attnum = d.adnum
     WHERE c.relnamespace = current_schema()::regnamespace AND c.relname = ANY ($1)`,
    [Object.keys(areaOf)],
  );
  const constant = rows.filter(({ value }) => literal.test(value));
  const values = constant.map(({ value }) => `to_jsonb(${value})`).join(', ');
  const read = await pool.query<{ values: unknown[] }>(`SELECT jsonb_build_array(${values}) AS values`);
  const byEntity = new Map<string, Map<string, unknown>>();
  for (const [i, { entity, column }] of constant.entries()) {
    const fields = byEntity.get(entity) ?? new Map<string, unknown>();
    byEntity.set(entity, fields.set(fieldName(column), read.rows[0]?.values[i]));
  }
  return byEntity;
}
