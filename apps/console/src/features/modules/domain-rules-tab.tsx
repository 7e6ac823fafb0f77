import { acls } from '@edgeloom/contract/acl/acl.endpoints.ts';
import { luaAcls } from '@edgeloom/contract/lua-acl/lua-acl.endpoints.ts';
import { wafs } from '@edgeloom/contract/waf/waf.endpoints.ts';
import {
  cors,
  customHeaders,
  domainModules,
  proxyRewrites,
  tokenAuths,
  urlRedirects,
} from '@edgeloom/contract/modules/modules.endpoints.ts';
import type { ModuleKind } from '@edgeloom/contract/modules/modules.ts';
import { Select } from '@mantine/core';
import { Link } from 'react-router-dom';
import { useSite } from '../../components/frame/site-scope.ts';
import { Section } from '../../components/page/section.tsx';
import { Await } from '../../components/states/await.tsx';
import { useT } from '../../lib/i18n.ts';
import { modulePages } from '../../lib/module-pages.ts';
import { siteAddress } from '../../lib/site-address.ts';
import { useCan } from '../../lib/use-can.ts';
import { useAction, useEndpoint } from '../../lib/use-endpoint.ts';
import classes from './modules.module.css';

const kinds = [
  { kind: 'urlRedirect', list: urlRedirects.list },
  { kind: 'customHeader', list: customHeaders.list },
  { kind: 'cors', list: cors.list },
  { kind: 'proxyRewrite', list: proxyRewrites.list },
  { kind: 'tokenAuth', list: tokenAuths.list },
  { kind: 'acl', list: acls.list },
  { kind: 'luaAcl', list: luaAcls.list },
  { kind: 'waf', list: wafs.list },
] as const;

/** The first option, sent as null. */
const NONE = { id: '', name: '' };

/** The domain's module of each kind. A choice applies at once. */
export function DomainRulesTab({ domain }: { domain: { id: string; siteID: string } }) {
  return (
    <div className={classes['pickers']}>
      {kinds.map(({ kind, list }) => (
        <Section key={kind} title={`${modulePages[kind].words}.title`} why={`${modulePages[kind].words}.why`}>
          <Picker domain={domain} kind={kind} list={list} />
        </Section>
      ))}
    </div>
  );
}

interface PickerProps {
  domain: { id: string; siteID: string };
  kind: ModuleKind;
  list: (typeof kinds)[number]['list'];
}

function Picker({ domain, kind, list }: PickerProps) {
  const { words, view } = modulePages[kind];
  const t = useT();
  const can = useCan();
  const site = useSite();
  const params = { siteId: domain.siteID };
  const modules = useEndpoint(list, { params, query: { pageSize: 500 } });
  const had = useEndpoint(domainModules.list, { params: { ...params, kind }, query: { domainID: domain.id } });
  const { run, running } = useAction(domainModules.assign, { refreshes: [words], done: 'common.saved' });
  return (
    <Await result={had}>
      {({ data: [now] }) => (
        <>
          <Select
            aria-label={t(`${words}.title`)}
            data={[NONE, ...(modules.data?.data ?? [])].map(({ id, name }) => ({
              value: id,
              label: name || t('domainModules.none'),
            }))}
            value={now?.moduleID ?? NONE.id}
            allowDeselect={false}
            searchable
            disabled={running || !can(domainModules.assign)}
            nothingFoundMessage={t('common.states.nothingMatches')}
            onChange={(chosen) => {
              const body = { domainIDs: [domain.id], moduleID: chosen === NONE.id ? null : chosen };
              void run({ params: { ...params, kind }, body });
            }}
          />
          <Link className={classes['manage'] ?? ''} to={siteAddress(site, view)}>
            {t('domainModules.manage')}
          </Link>
        </>
      )}
    </Await>
  );
}
