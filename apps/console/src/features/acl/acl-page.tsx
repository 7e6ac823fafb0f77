import { acls } from '@edgeloom/contract/acl/acl.endpoints.ts';
import { IconShieldCheck } from '@tabler/icons-react';
import { useSite } from '../../components/frame/site-scope.ts';
import { RuleMatchCount, useRuleMatches } from '../../components/rules/rule-matches.tsx';
import { useT } from '../../lib/i18n.ts';
import { useAction, useEndpoint } from '../../lib/use-endpoint.ts';
import { ModulesPage, Sentences } from '../modules/modules-page.tsx';
import classes from '../modules/modules.module.css';
import styles from './acl.module.css';
import { AclForm } from './acl-form.tsx';
import { AclSentence } from './acl-sentence.tsx';

export function AclPage() {
  const t = useT();
  const { id: siteId } = useSite();
  const params = { siteId };
  const found = useEndpoint(acls.list, { params, query: { pageSize: 500 } });
  const { run } = useAction(acls.remove, { done: 'common.removed' });
  const matches = useRuleMatches();
  return (
    <ModulesPage
      kind="acl"
      words="acls"
      icon={IconShieldCheck}
      found={found}
      calls={acls}
      onRemove={({ id }) => void run({ params, body: { ids: [id] } })}
      form={AclForm}
    >
      {({ rules }) =>
        rules.length === 0 ? (
          <div className={classes['foot']}>{t('acls.noRules')}</div>
        ) : (
          <Sentences>
            {rules.map((rule) => (
              <li key={rule.id} className={styles['counted']}>
                <span>
                  <strong className={styles['name']}>{rule.name}</strong> <AclSentence rule={rule} />
                </span>
                {/* The log does not name rules that let requests through. */}
                {rule.action !== 'allow' && <RuleMatchCount matches={matches} id={rule.id} hasTitle />}
              </li>
            ))}
          </Sentences>
        )
      }
    </ModulesPage>
  );
}
