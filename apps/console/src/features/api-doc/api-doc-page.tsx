import { system } from '@edgeloom/contract/system/system.endpoints.ts';
import { TextInput } from '@mantine/core';
import { IconApi, IconArrowLeft, IconSearch } from '@tabler/icons-react';
import { useEffect, useMemo, useState } from 'react';
import { Link, useLocation } from 'react-router-dom';
import { Page } from '../../components/page/page.tsx';
import { Await } from '../../components/states/await.tsx';
import { EmptyState } from '../../components/states/states.tsx';
import { Kbd } from '../../components/values/values.tsx';
import { count } from '../../lib/format.ts';
import { family } from '../../lib/family.ts';
import { useLanguage, useT } from '../../lib/i18n.ts';
import { useEndpoint } from '../../lib/use-endpoint.ts';
import { CallView } from './call-view.tsx';
import { readDocument, type ApiDocument, type Call } from './document.ts';
import { ErrorsView } from './errors-view.tsx';
import { nameOf, titleOf } from './names.ts';
import classes from './api-doc.module.css';

export function ApiDocPage() {
  const document = useEndpoint(system.openapi);
  return (
    <Await result={document} page="apiDoc.title">
      {(data) => <Documentation data={data} />}
    </Await>
  );
}

function Documentation({ data }: { data: unknown }) {
  const t = useT();
  const { hash } = useLocation();
  const { calls, schemas } = useMemo(() => readDocument(data, family), [data]);
  const chosen = decodeURIComponent(hash.slice(1));
  const call = calls.find(({ operationId }) => operationId === chosen);
  useEffect(() => {
    if (chosen !== '') globalThis.document.getElementById('call-title')?.focus();
  }, [chosen]);
  return (
    <Page title="apiDoc.title" count={count(calls.length)}>
      <div className={classes['doc']} data-chosen={chosen !== '' || undefined}>
        <Contents calls={calls} chosen={chosen} />
        <div className={classes['reading']}>
          <Link to="#" className={classes['back'] ?? ''}>
            <IconArrowLeft size={15} stroke={1.6} aria-hidden />
            {t('apiDoc.allCalls')}
          </Link>
          {call ? (
            <CallView call={call} schemas={schemas} />
          ) : chosen === 'errors' ? (
            <ErrorsView />
          ) : (
            <EmptyState icon={IconApi} title={t('apiDoc.choose')} text={t('apiDoc.intro')} />
          )}
        </div>
      </div>
    </Page>
  );
}

/** All calls by feature. The search covers paths, names and permissions. */
function Contents({ calls, chosen }: { calls: ApiDocument['calls']; chosen: string }) {
  const t = useT();
  useLanguage();
  const [text, setText] = useState('');
  const words = text.trim().toLowerCase().split(/\s+/);
  const isAsked = (call: Call) => {
    const all = [call.method, call.path, call.summary, call['x-permission'], titleOf(call.feature), nameOf(call)];
    const phrase = all.join(' ').toLowerCase();
    return words.every((word) => phrase.includes(word));
  };
  const groups = [...Map.groupBy(calls.filter(isAsked), ({ feature }) => feature)];
  return (
    <div className={classes['contents']}>
      <TextInput
        type="search"
        size="xs"
        className={classes['search'] ?? ''}
        aria-label={t('apiDoc.search')}
        placeholder={t('apiDoc.search')}
        value={text}
        onChange={(event) => setText(event.currentTarget.value)}
        leftSection={<IconSearch size={14} stroke={1.6} />}
        rightSection={text === '' && <Kbd>/</Kbd>}
      />
      <nav className={classes['list']} aria-label={t('apiDoc.allCalls')}>
        <Link to="#errors" className={classes['entry'] ?? ''} aria-current={chosen === 'errors' ? 'page' : undefined}>
          <span className={classes['entryName']}>{t('apiDoc.errors')}</span>
        </Link>
        {groups.map(([feature, of]) => (
          <div key={feature}>
            <h2 className={classes['groupTitle']}>{titleOf(feature)}</h2>
            <ul>
              {of.map((call) => (
                <li key={call.operationId}>
                  <Link
                    to={`#${call.operationId}`}
                    className={classes['entry'] ?? ''}
                    aria-current={call.operationId === chosen ? 'page' : undefined}
                  >
                    <span className={classes['method']} data-method={call.method}>
                      {call.method}
                    </span>
                    <span className={classes['entryText']}>
                      <span className={classes['entryName']}>{nameOf(call)}</span>
                      <span className={classes['entryPath']}>{call.path}</span>
                    </span>
                  </Link>
                </li>
              ))}
            </ul>
          </div>
        ))}
        {groups.length === 0 && <p className={classes['quiet']}>{t('apiDoc.nothing')}</p>}
      </nav>
    </div>
  );
}
