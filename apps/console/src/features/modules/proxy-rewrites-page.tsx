import { proxyRewrites } from '@edgeloom/contract/modules/modules.endpoints.ts';
import { IconSwitch3 } from '@tabler/icons-react';
import { useSite } from '../../components/frame/site-scope.ts';
import { Effect, If, Lit, Sentence, Then } from '../../components/sentence/sentence.tsx';
import { Pill } from '../../components/status/status.tsx';
import { useT } from '../../lib/i18n.ts';
import { useAction, useEndpoint } from '../../lib/use-endpoint.ts';
import { ModulesPage, Sentences } from './modules-page.tsx';
import classes from './modules.module.css';
import { ProxyRewritesForm, type ProxyRewrite } from './proxy-rewrites-form.tsx';

export function ProxyRewritesPage() {
  const t = useT();
  const { id: siteId } = useSite();
  const params = { siteId };
  const found = useEndpoint(proxyRewrites.list, { params, query: { pageSize: 500 } });
  const { run } = useAction(proxyRewrites.remove, { done: 'common.removed' });
  return (
    <ModulesPage
      kind="proxyRewrite"
      words="proxyRewrites"
      icon={IconSwitch3}
      found={found}
      calls={proxyRewrites}
      onRemove={({ id }) => void run({ params, body: { ids: [id] } })}
      form={ProxyRewritesForm}
    >
      {({ rules }) =>
        rules.length === 0 ? (
          <div className={classes['foot']}>{t('proxyRewrites.noRules')}</div>
        ) : (
          <Sentences>
            {rules.map((rule, i) => (
              // oxlint-disable-next-line react/no-array-index-key -- a rule is identified by its position
              <li key={i}>
                <RewriteSentence rule={rule} />
              </li>
            ))}
          </Sentences>
        )
      }
    </ModulesPage>
  );
}

function RewriteSentence({ rule }: { rule: ProxyRewrite['rules'][number] }) {
  const t = useT();
  const { type, source, target, host, keepQuery, keepRest, enabled } = rule;
  return (
    <Sentence>
      <If /> {t(`redirects.sentence.${type}`)} <Lit>{source}</Lit>
      <Then />
      <Effect>{t('proxyRewrites.sentence.ask')}</Effect>
      <Lit>{type === 'prefix' && keepRest ? `${target.replace(/\/$/, '')}/…` : target}</Lit>
      {!keepQuery && t('proxyRewrites.sentence.noQuery')}
      {host !== null && t('proxyRewrites.sentence.host')}
      {host !== null && <Lit>{host}</Lit>}
      {!enabled && <Pill tone="off">{t('common.off')}</Pill>}
    </Sentence>
  );
}
