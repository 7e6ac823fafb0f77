import { useState } from 'react';
import * as z from 'zod';
import { newOrigin, type Origin } from '../../components/origins/origins.ts';
import { OriginsTable } from '../../components/origins/origins-table.tsx';
import { useField } from '../../components/resource-form/form-state.ts';
import { ruleText } from '../../lib/errors.ts';
import { useT } from '../../lib/i18n.ts';
import classes from './ports.module.css';

/** Values of the form, valid or not. */
const Drafts = z.array(
  z.object({
    id: z.string().optional(),
    address: z.string(),
    port: z.number(),
    weight: z.number(),
    backup: z.boolean(),
    enabled: z.boolean(),
  }),
);

/** A new forward starts with an empty row. */
export const oneOrigin = draftsOf([newOrigin(0)]);

/** The origins table of domains, as a form field. */
export function OriginsField({ name }: { name: string }) {
  const t = useT();
  const { value, set, inner, input } = useField(name);
  const given = Drafts.safeParse(value).data ?? [];
  const [typed, setTyped] = useState<Origin[]>([]);
  // Only rows have stable keys; the form has their content.
  const rows = same(draftsOf(typed), given) ? typed : rowsOf(given);
  const fault = (path: string) => {
    const [, key, field] = path.split('.');
    const at = rows.findIndex((row) => row.key === key);
    const serverError = inner.get(`${at}.${field}`);
    const isEmpty = (field === 'address' && rows[at]?.address === '') || (field === 'port' && rows[at]?.port === 0);
    return serverError !== undefined && isEmpty ? ruleText('required', '') : serverError;
  };
  return (
    <div
      className={classes['origins']}
      onBlur={({ currentTarget, relatedTarget }) => {
        // Leaving an untouched field must not show errors.
        if (typed.length > 0 && !currentTarget.contains(relatedTarget)) input.onBlur();
      }}
    >
      <OriginsTable
        origins={rows}
        usualPort={rows.at(-1)?.port ?? 0}
        locked={input.disabled}
        onChange={(next) => {
          setTyped(next);
          set(draftsOf(next));
        }}
        fault={fault}
        {...(!rows.some(({ enabled }) => enabled) && { noneOn: t('origins.noneOn') })}
      />
    </div>
  );
}

function draftsOf(rows: readonly Origin[]) {
  return rows.map(({ id, key: _, ...origin }) => ({ ...(id !== null && { id }), ...origin }));
}
const rowsOf = (drafts: z.output<typeof Drafts>): Origin[] =>
  drafts.map(({ id, ...origin }, i) => ({ id: id ?? null, key: id ?? `${i}`, ...origin }));
const same = (a: unknown, b: unknown) => JSON.stringify(a) === JSON.stringify(b);
