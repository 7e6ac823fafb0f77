import { savedSearches } from '@edgeloom/contract/saved-searches/saved-searches.endpoints.ts';
import { ActionIcon, Button, Popover, TextInput } from '@mantine/core';
import { IconBookmark, IconX } from '@tabler/icons-react';
import { useState, type FormEvent } from 'react';
import { useT } from '../../lib/i18n.ts';
import { useCan } from '../../lib/use-can.ts';
import { useAction, useEndpoint } from '../../lib/use-endpoint.ts';
import { questionOf } from './log-state.ts';
import type { LogPageState } from './use-log-page.ts';
import table from '../../components/resource-table/resource-table.module.css';
import classes from './logs.module.css';

/** Named filters of the account, in every browser. A search of the same name is replaced. */
export function SavedSearches({ page }: { page: LogPageState }) {
  const t = useT();
  const can = useCan();
  const [name, setName] = useState('');
  const [opened, setOpened] = useState(false);
  const { data } = useEndpoint(savedSearches.list, {}, { enabled: opened });
  const create = useAction(savedSearches.create, { done: 'logs.saved.done' });
  const update = useAction(savedSearches.update, { done: 'logs.saved.done' });
  const remove = useAction(savedSearches.remove);
  const trimmed = name.trim();
  const save = async (event: FormEvent) => {
    event.preventDefault();
    if (trimmed === '') return;
    const body = { name: trimmed, filter: questionOf(page.state) };
    const same = data?.data.find((search) => search.name === trimmed);
    const saved = same ? await update.run({ body: { ...body, id: same.id } }) : await create.run({ body });
    if (saved === null) return;
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
          className={table['quiet'] ?? ''}
          leftSection={<IconBookmark size={15} stroke={1.6} />}
          aria-haspopup="dialog"
          aria-expanded={opened}
          onClick={() => setOpened(!opened)}
        >
          {t('logs.saved.title')}
        </Button>
      </Popover.Target>
      <Popover.Dropdown p={6} aria-label={t('logs.saved.title')}>
        {data && data.data.length > 0 && (
          <ul className={`${table['columnList']} ${classes['filterMenu']}`}>
            {data.data.map((search) => (
              <li key={search.id} className={table['columnItem']}>
                <button
                  type="button"
                  className={table['view']}
                  onClick={() => {
                    page.openSaved(search.filter);
                    setOpened(false);
                  }}
                >
                  {search.name}
                </button>
                {can(savedSearches.remove) && (
                  <ActionIcon
                    size={22}
                    aria-label={t('logs.saved.remove', { name: search.name })}
                    onClick={() => void remove.run({ body: { ids: [search.id] } })}
                  >
                    <IconX size={14} stroke={1.6} />
                  </ActionIcon>
                )}
              </li>
            ))}
          </ul>
        )}
        {data?.data.length === 0 && <p className={classes['none']}>{t('logs.saved.none')}</p>}
        {can(savedSearches.create) && (
          <form className={table['newView']} onSubmit={(event) => void save(event)}>
            <TextInput
              size="xs"
              aria-label={t('logs.saved.name')}
              placeholder={t('logs.saved.name')}
              maxLength={256}
              value={name}
              data-autofocus
              onChange={(event) => setName(event.currentTarget.value)}
            />
            <Button type="submit" size="xs" loading={create.running || update.running} disabled={trimmed === ''}>
              {t('common.save')}
            </Button>
          </form>
        )}
      </Popover.Dropdown>
    </Popover>
  );
}
