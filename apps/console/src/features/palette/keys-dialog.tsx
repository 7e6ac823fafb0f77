import { Modal } from '@mantine/core';
import type { MenuGroup } from '../../components/frame/menu.ts';
import { Kbd } from '../../components/values/values.tsx';
import { useT } from '../../lib/i18n.ts';
import { useCan } from '../../lib/use-can.ts';
import { usePreferences } from '../../stores/preferences.ts';
import classes from './palette.module.css';

const page = ['search', 'create', 'reload', 'filter'] as const;
const list = ['move', 'open', 'select', 'range', 'all', 'edit', 'menu', 'clear', 'undo'] as const;
const form = ['save', 'moveRule'] as const;
const keys: Readonly<Record<(typeof page | typeof list | typeof form)[number], readonly string[]>> = {
  search: ['/'],
  create: ['C'],
  reload: ['R'],
  filter: ['F'],
  move: ['J', 'K', '↑', '↓'],
  open: ['Enter'],
  select: ['X'],
  range: ['Shift', 'X'],
  all: ['A'],
  edit: ['E'],
  menu: ['.'],
  clear: ['Esc'],
  undo: ['Ctrl', 'Z'],
  save: ['Ctrl', 'S'],
  moveRule: ['Alt', '↑', '↓'],
};

/** All keyboard shortcuts, opened by `?`. */
export function KeysDialog({ menu, onClose }: { menu: readonly MenuGroup[]; onClose: () => void }) {
  const t = useT();
  const can = useCan();
  const letterKeys = usePreferences((preferences) => preferences.letterKeys);
  const places = menu
    .flatMap(({ entries }) => entries)
    .filter(({ key, reads }) => key && (reads === undefined || can(reads)));
  const named = (names: readonly (keyof typeof keys)[]) =>
    names.map((name) => ({ name: t(`palette.keys.${name}`), press: keys[name] }));
  const groups = [
    {
      title: t('palette.keys.everywhere'),
      rows: [
        { name: t('palette.title'), press: ['Ctrl', 'K'] },
        { name: t('palette.keys.title'), press: ['?'] },
        ...places.map(({ key, title }) => ({ name: t(title), press: ['G', key?.toUpperCase() ?? ''] })),
      ],
    },
    { title: t('palette.keys.onPage'), rows: named(page) },
    { title: t('palette.keys.inList'), rows: named(list) },
    { title: t('palette.keys.inForm'), rows: named(form) },
  ];
  return (
    <Modal
      opened
      onClose={onClose}
      title={t('palette.keys.title')}
      size={520}
      closeButtonProps={{ 'aria-label': t('common.close') }}
    >
      {!letterKeys && <p className={classes['keysOff']}>{t('palette.keys.off')}</p>}
      {groups.map(({ title, rows }) => (
        <section key={title} className={classes['keyGroup']}>
          <h3>{title}</h3>
          <dl>
            {rows.map(({ name, press }) => (
              <div key={name} className={classes['keyRow']}>
                <dt>
                  {press.map((key) => (
                    <Kbd key={key}>{key}</Kbd>
                  ))}
                </dt>
                <dd>{name}</dd>
              </div>
            ))}
          </dl>
        </section>
      ))}
    </Modal>
  );
}
