import { tokenAuths } from '@edgeloom/contract/modules/modules.endpoints.ts';
import { Button } from '@mantine/core';
import { IconKey, IconTestPipe } from '@tabler/icons-react';
import { useSite } from '../../components/frame/site-scope.ts';
import { useOverlay } from '../../components/overlay/overlay.tsx';
import { PathSentence } from '../../components/rules/path-sentence.tsx';
import { And, Effect, If, Lit, Sentence, Then } from '../../components/sentence/sentence.tsx';
import { Pill } from '../../components/status/status.tsx';
import { duration } from '../../lib/format.ts';
import { useLanguage, useT } from '../../lib/i18n.ts';
import { useCan } from '../../lib/use-can.ts';
import { useAction, useEndpoint } from '../../lib/use-endpoint.ts';
import { ModulesPage, Sentences } from './modules-page.tsx';
import classes from './modules.module.css';
import { TokenAuthsForm } from './token-auths-form.tsx';
import { exampleOf, type StoredEntry } from './token-form.ts';
import { TokenTester } from './token-tester.tsx';

export function TokenAuthsPage() {
  const t = useT();
  const can = useCan();
  const overlay = useOverlay();
  const { id: siteId } = useSite();
  const params = { siteId };
  const found = useEndpoint(tokenAuths.list, { params, query: { pageSize: 500 } });
  const { run } = useAction(tokenAuths.remove, { done: 'common.removed' });
  return (
    <ModulesPage
      kind="tokenAuth"
      words="tokenAuths"
      icon={IconKey}
      found={found}
      calls={tokenAuths}
      onRemove={({ id }) => void run({ params, body: { ids: [id] } })}
      form={TokenAuthsForm}
    >
      {(module) =>
        module.auths.length === 0 ? (
          <div className={classes['foot']}>{t('tokenAuths.noEntries')}</div>
        ) : (
          <>
            <Sentences>
              {module.auths.map((entry) => (
                <li key={entry.id}>
                  <TokenSentence entry={entry} />
                </li>
              ))}
            </Sentences>
            {can(tokenAuths.judge) && (
              <div className={classes['foot']}>
                <Button
                  size="xs"
                  variant="default"
                  leftSection={<IconTestPipe size={14} stroke={1.8} />}
                  onClick={() =>
                    overlay(<TokenTester siteId={siteId} module={module} />, {
                      title: { text: t('tokenAuths.tester.title', { name: module.name }) },
                      wide: true,
                    })
                  }
                >
                  {t('tokenAuths.tester.open')}
                </Button>
              </div>
            )}
          </>
        )
      }
    </ModulesPage>
  );
}

function TokenSentence({ entry }: { entry: StoredEntry }) {
  const t = useT();
  const language = useLanguage();
  const { type, value, except, algorithm, timeMeans, validSeconds, action, target, enabled, keys } = entry;
  return (
    <Sentence>
      <If /> <PathSentence paths={{ type, value }} />
      {except && (
        <>
          <And />
          <span>{t('tokenAuths.sentence.not')}</span> <PathSentence paths={except} />
        </>
      )}
      <Then />
      <Effect>{t('tokenAuths.sentence.ask')}</Effect>
      <Lit>{exampleOf(entry)}</Lit>
      <span>
        {[
          t(`tokenAuths.algorithms.${algorithm}`),
          timeMeans === 'signed'
            ? t('tokenAuths.sentence.signed', { time: duration(validSeconds, language) })
            : t('tokenAuths.sentence.expires'),
          t('tokenAuths.sentence.keys', { count: keys.length }),
        ].join(t('common.comma'))}
      </span>
      {action === 'redirect' && target !== null && (
        <>
          <span>{t('tokenAuths.sentence.elseTo')}</span>
          <Lit>{target}</Lit>
        </>
      )}
      {!enabled && <Pill tone="off">{t('common.off')}</Pill>}
    </Sentence>
  );
}
