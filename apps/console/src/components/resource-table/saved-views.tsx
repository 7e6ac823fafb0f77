import { ActionIcon, Button, Popover, TextInput } from '@mantine/core';
import { IconBookmark, IconX } from '@tabler/icons-react';
import { useState, type FormEvent } from 'react';
import { Link, useSearchParams } from 'react-router-dom';
import { useT } from '../../lib/i18n.ts';
import { useSession } from '../../stores/session.ts';
import { removeView, saveView, useSavedViews } from '../../stores/saved-views.ts';
import classes from './resource-table.module.css';

interface SavedViewsProps {
  /** The list of the views. */
  list: string;
  /** Visible columns, which a view restores. Empty: the list has fixed columns. */
  columns: readonly string[];
}

/** Named combinations of search, filters, order, page size and columns. */
export function SavedViews({ list, columns }: SavedViewsProps) {
  const t = useT();
  const [address] = useSearchParams();
  const [name, setName] = useState('');
  const [opened, setOpened] = useState(false);
  const account = useSession((session) => session.account?.id ?? '');
  const views = useSavedViews(account, list);
  const trimmed = name.trim();
  const save = (event: FormEvent) => {
    event.preventDefault();
    if (trimmed === '') return;
    const query = withoutPlace(address);
    if (columns.length > 0) query.set('cols', columns.join(','));
    saveView(account, list, { name: trimmed, search: query.toString() });
    setName('');
    setOpened(false);
  };
  return (
    <Popover position="bottom-end" width={280} opened={opened} onChange={setOpened} trapFocus returnFocus>
      <Popover.Target>
        <Button
          variant="subtle"
          color="gray"
          size="xs"
          className={classes['quiet'] ?? ''}
          leftSection={<IconBookmark size={15} stroke={1.6} />}
          aria-haspopup="dialog"
          aria-expanded={opened}
          onClick={() => setOpened(!opened)}
        >
          {t('shared.table.saveView')}
        </Button>
      </Popover.Target>
      <Popover.Dropdown p={6} aria-label={t('shared.table.views')}>
        {views.length > 0 && (
          <ul className={classes['columnList']}>
            {views.map((view) => (
              <li key={view.name} className={classes['columnItem']}>
                <Link
                  to={{ search: withPlace(address, view.search) }}
                  className={classes['view'] ?? ''}
                  onClick={() => setOpened(false)}
                >
                  {view.name}
                </Link>
                <ActionIcon
                  size={22}
                  aria-label={t('shared.table.removeView', { name: view.name })}
                  onClick={() => removeView(account, list, view.name)}
                >
                  <IconX size={14} stroke={1.6} />
                </ActionIcon>
              </li>
            ))}
          </ul>
        )}
        <form className={classes['newView']} onSubmit={save}>
          <TextInput
            size="xs"
            aria-label={t('shared.table.viewName')}
            placeholder={t('shared.table.viewName')}
            maxLength={60}
            value={name}
            data-autofocus
            onChange={(event) => setName(event.currentTarget.value)}
          />
          <Button type="submit" size="xs" disabled={trimmed === ''}>
            {t('common.save')}
          </Button>
        </form>
      </Popover.Dropdown>
    </Popover>
  );
}

/** Parameters that belong to the page, such as the open row. A view starts at its first page. */
const place = ['view', 'tab', 'request'];

function withoutPlace(address: URLSearchParams) {
  const query = new URLSearchParams(address);
  for (const name of [...place, 'page']) query.delete(name);
  return query;
}

function withPlace(address: URLSearchParams, search: string) {
  const opened = new URLSearchParams(search);
  for (const name of place) {
    const value = address.get(name);
    if (value !== null) opened.set(name, value);
  }
  return opened.toString();
}
