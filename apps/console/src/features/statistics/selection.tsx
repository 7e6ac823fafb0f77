import { palette } from '@edgeloom/contract/palette/palette.calls.ts';
import { sites } from '@edgeloom/contract/sites/sites.calls.ts';
import { ActionIcon, Button, Checkbox, MultiSelect, Popover } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { IconFilter, IconX } from '@tabler/icons-react';
import { useState } from 'react';
import { MetaMultiSelect } from '../../components/fields/meta-select.tsx';
import { family } from '../../lib/family.ts';
import { count } from '../../lib/format.ts';
import { useT } from '../../lib/i18n.ts';
import { useCan } from '../../lib/use-can.ts';
import { useEndpoint } from '../../lib/use-endpoint.ts';
import { useMetaSearch } from '../../lib/use-meta.ts';
import type { Statistics } from './use-statistics.ts';
import classes from './statistics.module.css';

const MAX_TAGS = 20;
const MAX_SITES = 20;
const MAX_DOMAINS = 50;
const noSelection = { site: null, tag: null, domain: null, noSite: null };
/** Keeps the lists inside the popover, which closes on a click outside. */
const inside = { withinPortal: false };

/** Sites, tags and domains that the page is about. Operators may choose the requests without a site instead. */
export function Selection({ state, hasDomains = true }: { state: Statistics; hasDomains?: boolean }) {
  const t = useT();
  const can = useCan();
  const [opened, setOpened] = useState(false);
  const { sites: siteIDs, tags, noSite, change } = state;
  const domains = hasDomains ? state.domains : [];
  const foundSites = useMetaSearch(sites.meta, { chosen: siteIDs, enabled: opened || siteIDs.length > 0 });
  const foundTags = useMetaSearch(sites.tagsInUse, {
    chosen: tags,
    known: tags.map((tag) => ({ value: tag, label: tag })),
    enabled: opened,
  });
  const names = [...foundSites.chosen.map(({ label }) => label), ...tags, ...domains];
  const amounts = [
    ...(siteIDs.length > 0
      ? [t('statistics.chosen.sites', { count: siteIDs.length, rows: count(siteIDs.length) })]
      : []),
    ...(tags.length > 0 ? [t('statistics.chosen.tags', { count: tags.length, rows: count(tags.length) })] : []),
    ...(domains.length > 0 ? [t('statistics.domains', { count: domains.length, rows: count(domains.length) })] : []),
  ];
  const chosen = siteIDs.length + tags.length + domains.length;
  const all = t(noSite ? 'statistics.noSite' : 'frame.allSites');
  const label = chosen === 0 ? all : chosen === 1 ? (names[0] ?? '…') : amounts.join(' · ');
  const choose = (values: Partial<Record<'site' | 'tag' | 'domain', string[]>>) => change({ ...values, noSite: null });
  return (
    <div className={classes['selection']}>
      <Popover opened={opened} onChange={setOpened} position="bottom-end" width={320} trapFocus>
        <Popover.Target>
          <Button
            variant="default"
            leftSection={<IconFilter size={15} stroke={1.6} />}
            aria-haspopup="dialog"
            aria-expanded={opened}
            onClick={() => setOpened(!opened)}
          >
            {label}
          </Button>
        </Popover.Target>
        <Popover.Dropdown aria-label={t('statistics.selection')} className={classes['fields'] ?? ''}>
          {can(sites.meta) && (
            <MetaMultiSelect
              label={t('statistics.fields.sites')}
              choices={foundSites}
              value={siteIDs}
              maxValues={MAX_SITES}
              comboboxProps={inside}
              onChange={(site) => choose({ site })}
            />
          )}
          {can(sites.tagsInUse) && (
            <MetaMultiSelect
              label={t('common.fields.tags')}
              choices={foundTags}
              value={tags}
              maxValues={MAX_TAGS}
              comboboxProps={inside}
              onChange={(tag) => choose({ tag })}
            />
          )}
          {hasDomains && <DomainSelect value={domains} onChange={(domain) => choose({ domain })} />}
          {family === 'client' && (
            <Checkbox
              label={t('statistics.noSite')}
              description={t('statistics.noSiteWhy')}
              checked={noSite}
              onChange={({ currentTarget: { checked } }) => change({ ...noSelection, noSite: checked ? '1' : null })}
            />
          )}
        </Popover.Dropdown>
      </Popover>
      {(chosen > 0 || noSite) && (
        <ActionIcon aria-label={t('common.states.clearFilters')} onClick={() => change(noSelection)}>
          <IconX size={15} stroke={1.6} />
        </ActionIcon>
      )}
    </div>
  );
}

const TYPING_RESTS_MS = 150;

/** Domains of all sites by a part of their name. */
function DomainSelect({ value, onChange }: { value: string[]; onChange: (names: string[]) => void }) {
  const t = useT();
  const [typed, setTyped] = useState('');
  const [text] = useDebouncedValue(typed.trim(), TYPING_RESTS_MS);
  const found = useEndpoint(palette.search, { query: { text } }, { enabled: text !== '' });
  const names = text === '' ? [] : (found.data?.domains.map(({ name }) => name) ?? []);
  return (
    <MultiSelect
      label={t('statistics.fields.domains')}
      placeholder={value.length === 0 ? t('statistics.typeDomain') : ''}
      clearable
      searchable
      maxValues={MAX_DOMAINS}
      hidePickedOptions
      data={[...new Set([...value, ...names])]}
      // The server has already filtered.
      filter={({ options }) => options}
      nothingFoundMessage={
        text === ''
          ? null
          : t(found.loading || found.refreshing ? 'common.form.searching' : 'common.states.nothingMatches')
      }
      value={value}
      comboboxProps={inside}
      onSearchChange={setTyped}
      onChange={onChange}
    />
  );
}
