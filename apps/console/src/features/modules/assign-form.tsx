import { domains } from '@edgeloom/contract/domains/domains.endpoints.ts';
import { domainModules } from '@edgeloom/contract/modules/modules.endpoints.ts';
import type { ModuleKind } from '@edgeloom/contract/modules/modules.ts';
import { Button, Checkbox } from '@mantine/core';
import { useState } from 'react';
import { Link } from 'react-router-dom';
import { MetaMultiSelect } from '../../components/fields/meta-select.tsx';
import { useOverlayClose } from '../../components/overlay/overlay.tsx';
import { Pages } from '../../components/pages/pages.tsx';
import { Await } from '../../components/states/await.tsx';
import { PreviewButton } from '../../components/preview/preview-button.tsx';
import { useT } from '../../lib/i18n.ts';
import { domainAddress } from '../../lib/site-address.ts';
import { useCan } from '../../lib/use-can.ts';
import { useAction, useEndpoint } from '../../lib/use-endpoint.ts';
import { useMetaSearch, type Choice } from '../../lib/use-meta.ts';
import classes from './modules.module.css';

interface AssignProps {
  site: { id: string; name: string };
  kind: ModuleKind;
  module: { id: string; name: string };
  /** Locale namespace of the module kind. */
  words: string;
}

/** Domains with this module. A domain has at most one module of a kind. */
export function AssignForm(props: AssignProps) {
  const { site, kind, module } = props;
  const query = { moduleID: module.id, pageSize: 500 };
  const found = useEndpoint(domainModules.list, { params: { siteId: site.id, kind }, query });
  return (
    <Await result={found}>
      {({ data, total }) => (
        <Loaded
          {...props}
          before={data.map(({ domainID, domainName }) => ({ value: domainID, label: domainName }))}
          more={total - data.length}
        />
      )}
    </Await>
  );
}

function Loaded({ site, kind, module, words, before, more }: AssignProps & { before: Choice[]; more: number }) {
  const t = useT();
  const can = useCan();
  const close = useOverlayClose();
  const siteId = site.id;
  const [chosen, setChosen] = useState(before.map(({ value }) => value));
  const choices = useMetaSearch(domains.meta, { params: { siteId }, chosen, known: before });
  const [all, setAll] = useState(false);
  const { run, running } = useAction(domainModules.assign, { refreshes: [words], done: 'common.saved' });
  const plan = () => {
    const had = before.map(({ value }) => value);
    const added = chosen.filter((id) => !had.includes(id));
    const gone = had.filter((id) => !chosen.includes(id));
    const bodies = all
      ? [{ moduleID: module.id }]
      : [
          ...(added.length > 0 ? [{ domainIDs: added, moduleID: module.id }] : []),
          ...(gone.length > 0 ? [{ domainIDs: gone, moduleID: null }] : []),
        ];
    return bodies.map((body) => ({ endpoint: domainModules.assign, params: { siteId, kind }, body }));
  };
  const submit = async () => {
    for (const planned of plan()) if (!(await run(planned))) return;
    close();
  };
  return (
    <form
      className={classes['drawer']}
      onSubmit={(event) => {
        event.preventDefault();
        void submit();
      }}
    >
      <Checkbox
        label={t('domainModules.allDomains')}
        checked={all}
        disabled={!can(domainModules.assign)}
        onChange={(event) => setAll(event.currentTarget.checked)}
      />
      {!all && (
        <MetaMultiSelect
          label={t('domainModules.domains')}
          description={t('domainModules.instead')}
          choices={choices}
          maxValues={Infinity}
          value={chosen}
          onChange={setChosen}
          disabled={!can(domainModules.assign)}
          clearButtonProps={{ 'aria-label': t('domainModules.clear') }}
        />
      )}
      {!all && more > 0 && <AllDomains site={site} kind={kind} moduleID={module.id} more={more} />}
      <div className="dialog-buttons">
        <Button variant="default" onClick={close}>
          {t('common.cancel')}
        </Button>
        {can(domainModules.assign) && (
          <>
            <PreviewButton preview={{ plan }} saveText={t('common.save')} onSave={() => void submit()} />
            <Button type="submit" loading={running}>
              {t('common.save')}
            </Button>
          </>
        )}
      </div>
    </form>
  );
}

interface AllDomainsProps {
  site: { id: string; name: string };
  kind: ModuleKind;
  moduleID: string;
  /** Number of domains that the field does not list. */
  more: number;
}
const PAGE_SIZE = 50;

/** All domains with the module, page by page, once the reader asks for them. */
function AllDomains({ site, kind, moduleID, more }: AllDomainsProps) {
  const t = useT();
  const [isOpen, setOpen] = useState(false);
  const [page, setPage] = useState(1);
  const query = { moduleID, page, pageSize: PAGE_SIZE };
  const found = useEndpoint(domainModules.list, { params: { siteId: site.id, kind }, query }, { enabled: isOpen });
  return (
    <div>
      {t('domainModules.more', { count: more })}{' '}
      <Button size="compact-sm" variant="subtle" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
        {t('common.showAll')}
      </Button>
      {isOpen && (
        <Await result={found}>
          {({ data, total }) => (
            <>
              <ul className={classes['domains']}>
                {data.map(({ domainID, domainName }) => (
                  <li key={domainID}>
                    <Link to={domainAddress(site, domainName)}>{domainName}</Link>
                  </li>
                ))}
              </ul>
              <Pages page={page} pageSize={PAGE_SIZE} total={total} onChange={setPage} />
            </>
          )}
        </Await>
      )}
    </div>
  );
}
