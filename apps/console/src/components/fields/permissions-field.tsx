import type { Area } from '@edgeloom/contract/permissions.ts';
import { Checkbox, type CheckboxProps } from '@mantine/core';
import type { KeyboardEvent } from 'react';
import { useT } from '../../lib/i18n.ts';
import { areaName, areas, levelOf, withLevel, type Level } from '../../lib/permissions.ts';
import { useSession } from '../../stores/session.ts';
import { useField } from '../resource-form/form-state.ts';
import classes from './permissions-field.module.css';

/**
 * A grid of areas by read and write. It offers only the reader's own permissions. Arrow keys move between checkboxes;
 * the outer checkboxes select a row or column.
 */
export function PermissionsField({ name }: { name: string }) {
  const t = useT();
  const { accepted, value, set, input } = useField(name);
  const own = useSession((session) => session.account?.permissions) ?? [];
  if (!accepted) return null;
  const given = Array.isArray(value) ? value.map(String) : [];
  const offered = areas.filter((area) => levelOf(own, area) !== 'none');
  const most = (area: Area) => levelOf(own, area);
  const put = (some: readonly Area[], level: (area: Area) => Level) =>
    set(some.reduce((all, area) => withLevel(all, area, level(area)), given));

  const atMost = (area: Area) => levelOf(given, area) === most(area);
  const column = (is: (area: Area) => boolean) => {
    const count = offered.filter(is).length;
    return { checked: count === offered.length, indeterminate: count > 0 && count < offered.length };
  };
  const reads = (area: Area) => levelOf(given, area) !== 'none';
  const writes = (area: Area) => levelOf(given, area) === 'write';
  const writable = offered.filter((area) => most(area) === 'write');
  const all = column(atMost);
  const [read, write] = [column(reads), column((area) => writes(area) || most(area) !== 'write')];

  return (
    <fieldset className={classes['field']} disabled={input.disabled} aria-describedby={`${input.id}-says`}>
      <legend className={classes['legend']}>{input.label}</legend>
      <p id={`${input.id}-says`} className={classes['says']} data-error={input.error !== null || undefined}>
        {input.error ?? input.description}
      </p>
      <table className={classes['matrix']}>
        <thead>
          <tr>
            <th scope="col">
              <Box
                label={t('permissions.all')}
                {...all}
                aria-invalid={input.error !== null}
                onChange={() => put(offered, all.checked ? () => 'none' : most)}
              />
            </th>
            <th scope="col">
              <Box
                label={t('permissions.read')}
                {...read}
                onChange={() => put(offered, read.checked ? () => 'none' : (area) => (writes(area) ? 'write' : 'read'))}
              />
            </th>
            <th scope="col">
              <Box
                label={t('permissions.write')}
                {...write}
                disabled={writable.length === 0}
                onChange={() => put(writable, () => (write.checked ? 'read' : 'write'))}
              />
            </th>
          </tr>
        </thead>
        <tbody>
          {offered.map((area) => {
            const label = areaName(area);
            return (
              <tr key={area}>
                <th scope="row">
                  <Box
                    label={label}
                    aria-label={t('permissions.allOf', { area: label })}
                    checked={atMost(area)}
                    indeterminate={reads(area) && !atMost(area)}
                    onChange={() => put([area], atMost(area) ? () => 'none' : most)}
                  />
                </th>
                <td>
                  <Box
                    aria-label={t('permissions.readOf', { area: label })}
                    checked={reads(area)}
                    onChange={() => put([area], () => (reads(area) ? 'none' : 'read'))}
                  />
                </td>
                <td>
                  <Box
                    aria-label={t('permissions.writeOf', { area: label })}
                    checked={writes(area)}
                    disabled={most(area) !== 'write'}
                    title={most(area) === 'write' ? undefined : t('permissions.lacking')}
                    onChange={() => put([area], () => (writes(area) ? 'read' : 'write'))}
                  />
                </td>
              </tr>
            );
          })}
        </tbody>
      </table>
    </fieldset>
  );
}

const Box = (props: CheckboxProps) => <Checkbox {...props} onKeyDown={walk} />;

const steps: Readonly<Record<string, readonly [row: number, column: number]>> = {
  ArrowUp: [-1, 0],
  ArrowDown: [1, 0],
  ArrowLeft: [0, -1],
  ArrowRight: [0, 1],
};

/** Moves focus to the next checkbox in this direction. */
function walk(event: KeyboardEvent<HTMLInputElement>) {
  const step = steps[event.key];
  const cell = event.currentTarget.closest<HTMLTableCellElement>('th, td');
  const row = cell?.closest('tr');
  if (!step || !cell || !row) return;
  event.preventDefault();
  const next = row.closest('table')?.rows[row.rowIndex + step[0]]?.cells[cell.cellIndex + step[1]];
  next?.querySelector('input')?.focus();
}
