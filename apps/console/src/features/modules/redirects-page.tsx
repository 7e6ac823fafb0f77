import { redirects } from '@edgeloom/contract/modules/modules.endpoints.ts';
import { REDIRECTS_OF_A_SITE, RedirectType } from '@edgeloom/contract/modules/redirects.ts';
import { Button } from '@mantine/core';
import { IconArrowRampRight, IconFileImport, IconPlus, IconReplace } from '@tabler/icons-react';
import { useOverlay } from '../../components/overlay/overlay.tsx';
import { Page } from '../../components/page/page.tsx';
import { edit, remove, turnOff, turnOn } from '../../components/resource-table/actions.tsx';
import type { Column } from '../../components/resource-table/columns.tsx';
import { ResourceTable } from '../../components/resource-table/resource-table.tsx';
import { useMatchesColumn } from '../../components/rules/rule-matches.tsx';
import { Effect, If, Lit, Sentence, Then } from '../../components/sentence/sentence.tsx';
import { StatusMark } from '../../components/status/status-mark.tsx';
import { count } from '../../lib/format.ts';
import { t, useT } from '../../lib/i18n.ts';
import { useCan } from '../../lib/use-can.ts';
import { ImportForm } from './import-form.tsx';
import { RedirectForm, type Redirect } from './redirect-form.tsx';
import { DomainsButton, type Module } from './modules-page.tsx';
import { ReplaceForm } from './replace-form.tsx';

const refreshes = ['urlRedirects'];
const on = turnOn<Redirect, typeof redirects.enable>(redirects.enable, { applies: ({ enabled }) => !enabled });
const off = turnOff<Redirect, typeof redirects.enable>(redirects.enable, { applies: ({ enabled }) => enabled });
const removing = remove<Redirect, typeof redirects.remove>(redirects.remove, { refreshes });

// Export columns match the import format.
const columns: Column<Redirect>[] = [
  { key: 'source', flexible: true, text: ({ source }) => source, render: (row) => <WhenSentence row={row} /> },
  { key: 'target', flexible: true, text: ({ target }) => target, render: (row) => <ThenSentence row={row} /> },
  { key: 'code', sort: false, priority: 3 },
  {
    key: 'type',
    sort: false,
    priority: 3,
    text: ({ type }) => type,
    render: ({ type }) => t(`redirects.choices.type.${type}`),
  },
  { key: 'enabled', sort: false, render: ({ enabled }) => <Enabled of={enabled} /> },
  { key: 'priority', priority: 3, hidden: true },
  { key: 'updatedAt', as: 'time', priority: 2 },
];

/** Up to three thousand redirects of one module, virtualized. */
export function RedirectsPage({
  siteId,
  moduleId,
  module,
}: {
  siteId: string;
  moduleId: string;
  module: Module | undefined;
}) {
  const t = useT();
  const can = useCan();
  const overlay = useOverlay();
  const matches = useMatchesColumn<Redirect>();
  const at = { siteId, moduleId };
  const add = () => overlay(<RedirectForm at={at} />, { title: 'redirects.create' });
  return (
    <Page
      title="urlRedirects.title"
      name={module?.name}
      actions={
        can(redirects.create) && (
          <>
            {module && <DomainsButton kind="urlRedirect" module={module} words="urlRedirects" />}
            <Button
              variant="default"
              leftSection={<IconReplace size={15} stroke={1.6} />}
              onClick={() => overlay(<ReplaceForm at={at} />, { title: 'redirects.replace', wide: true })}
            >
              {t('redirects.replace')}
            </Button>
            <Button
              variant="default"
              leftSection={<IconFileImport size={15} stroke={1.6} />}
              onClick={() => overlay(<ImportForm at={at} />, { title: 'redirects.import', wide: true })}
            >
              {t('redirects.import')}
            </Button>
            <Button data-main-action leftSection={<IconPlus size={15} stroke={1.8} />} onClick={add}>
              {t('redirects.create')}
            </Button>
          </>
        )
      }
    >
      <ResourceTable
        endpoint={redirects.list}
        params={at}
        columns={[...columns, ...matches]}
        search="keyword"
        filters={[{ key: 'types', choices: RedirectType.options, many: true }]}
        counted={(total) => t('redirects.counted', { total: count(total), limit: count(REDIRECTS_OF_A_SITE) })}
        row={(row) => [
          edit(<RedirectForm at={at} value={row} />, { title: 'redirects.edit', can: redirects.update.can }),
          on,
          off,
          removing,
        ]}
        bulk={[on, off, removing]}
        phone={(row) => ({ below: <ThenSentence row={row} /> })}
        empty={{
          icon: IconArrowRampRight,
          ...(can(redirects.create) && { action: <Button onClick={add}>{t('redirects.create')}</Button> }),
        }}
      />
    </Page>
  );
}

const WhenSentence = ({ row: { type, source } }: { row: Redirect }) => (
  <Sentence>
    <If /> {t(`redirects.sentence.${type}`)} <Lit>{source}</Lit>
  </Sentence>
);

const ThenSentence = ({ row: { type, target, code, keepRest } }: { row: Redirect }) => (
  <Sentence>
    <Then /> <Effect>{t('redirects.sentence.to', { code })}</Effect>
    <Lit>{type === 'prefix' && keepRest ? `${target.replace(/\/$/, '')}/…` : target}</Lit>
  </Sentence>
);

const Enabled = ({ of }: { of: boolean }) => (
  <StatusMark tone={of ? 'ok' : 'off'} label={t(of ? 'common.on' : 'common.off')} />
);
