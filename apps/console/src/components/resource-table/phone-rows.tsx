import { Checkbox } from '@mantine/core';
import { useState } from 'react';
import { useT } from '../../lib/i18n.ts';
import { isRowClick, rowOpener } from './actions.tsx';
import { cellOf } from './columns.tsx';
import type { GridProps, PhoneRow } from './grid.tsx';
import type { Identified } from './page-of-rows.ts';
import { GroupEnds } from './group-ends.tsx';
import { grouped } from './lines.ts';
import { RowMenu } from './row-menu.tsx';
import classes from './resource-table.module.css';

/** Two lines per row: identity, then the main properties. */
export function PhoneRows<Row extends Identified>({
  rows,
  columns,
  caption,
  selectable,
  selected,
  setSelected,
  actionsOf,
  runOne,
  nameOf,
  phone,
  group,
  tallies,
  fresh,
}: GridProps<Row>) {
  const t = useT();
  const [menu, setMenu] = useState<string | null>(null);
  const [identity, second] = columns;
  if (!identity) return null;
  return (
    <div className={classes['phone']}>
      {grouped(rows, group, tallies).map(({ key, label, rows: members, ...ends }) => (
        <section key={key} {...(label ? {} : { 'aria-label': caption })}>
          {label && (
            <h2 className={classes['phoneGroup']}>
              {label}
              <GroupEnds {...ends} />
            </h2>
          )}
          <ul className={classes['phoneRows']} aria-label={caption}>
            {members.map((row) => {
              const actions = actionsOf(row);
              const opening = rowOpener(actions);
              const shown: PhoneRow = phone?.(row) ?? { below: second && cellOf(second, row) };
              return (
                // oxlint-disable-next-line jsx-a11y/no-noninteractive-element-interactions -- in the menu too
                <li
                  key={row.id}
                  className={classes['phoneRow']}
                  tabIndex={-1}
                  data-row={row.id}
                  data-opens={opening !== undefined || undefined}
                  onClick={(event) => opening && isRowClick(event) && runOne(opening, row)}
                  onKeyDown={(event) => {
                    if (opening && event.key === 'Enter' && event.target === event.currentTarget) runOne(opening, row);
                  }}
                  data-new={fresh?.includes(row.id) || undefined}
                >
                  {selectable && (
                    <Checkbox
                      aria-label={t('shared.table.selectRow', { name: nameOf(row) })}
                      checked={selected[row.id] ?? false}
                      onChange={(event) => {
                        const { checked } = event.currentTarget;
                        setSelected((all) => ({ ...all, [row.id]: checked }));
                      }}
                    />
                  )}
                  <div className={classes['phoneText']}>
                    <div className={classes['phoneName']}>{shown.name ?? cellOf(identity, row)}</div>
                    <div className={classes['phoneBelow']}>{shown.below}</div>
                  </div>
                  {shown.end}
                  <RowMenu
                    name={nameOf(row)}
                    actions={actions}
                    onRun={(action) => runOne(action, row)}
                    opened={menu === row.id}
                    onOpened={(opened) => setMenu(opened ? row.id : null)}
                  />
                </li>
              );
            })}
          </ul>
        </section>
      ))}
    </div>
  );
}
