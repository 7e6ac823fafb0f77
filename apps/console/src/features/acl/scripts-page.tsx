import { luaAcls } from '@edgeloom/contract/lua-acl/lua-acl.endpoints.ts';
import { IconScript } from '@tabler/icons-react';
import { useSite } from '../../components/frame/site-scope.ts';
import { RuleMatchCount, useRuleMatches } from '../../components/rules/rule-matches.tsx';
import { useT } from '../../lib/i18n.ts';
import { useAction, useEndpoint } from '../../lib/use-endpoint.ts';
import { ModulesPage } from '../modules/modules-page.tsx';
import modules from '../modules/modules.module.css';
import classes from './acl.module.css';
import { ScriptForm } from './script-form.tsx';

export function ScriptsPage() {
  const t = useT();
  const { id: siteId } = useSite();
  const params = { siteId };
  const found = useEndpoint(luaAcls.list, { params, query: { pageSize: 500 } });
  const matches = useRuleMatches();
  const { run } = useAction(luaAcls.remove, { done: 'common.removed' });
  return (
    <ModulesPage
      kind="luaAcl"
      words="luaAcls"
      icon={IconScript}
      found={found}
      calls={luaAcls}
      onRemove={({ id }) => void run({ params, body: { ids: [id] } })}
      form={ScriptForm}
    >
      {({ id, script, monitor, limitMode }) => (
        <>
          <pre className={classes['preview']}>{script}</pre>
          <div className={modules['foot']}>
            {t(`luaAcls.choices.limitMode.${limitMode}`)}
            {monitor && ` · ${t('luaAcls.monitored')}`}
            <RuleMatchCount matches={matches} id={id} hasTitle />
          </div>
        </>
      )}
    </ModulesPage>
  );
}
