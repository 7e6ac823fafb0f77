import { Button } from '@mantine/core';
import { IconDatabase, IconPlus } from '@tabler/icons-react';
import { RuleList } from '../../components/rules/rule-list.tsx';
import { RulesBar } from '../../components/rules/rules-bar.tsx';
import classes from '../../components/rules/rules.module.css';
import type { Drafting } from '../../components/rules/use-drafting.ts';
import { EmptyState } from '../../components/states/states.tsx';
import { useT } from '../../lib/i18n.ts';
import { RuleEditor } from './rule-editor.tsx';
import { RuleSentence } from './rule-sentence.tsx';
import { newRule, staticFiles, type DraftRule } from './rules-draft.ts';

/** Cache rules of a site in order. Changes stay a draft until published. */
export function RulesTab({ drafting }: { drafting: Drafting<DraftRule> }) {
  const t = useT();
  const { rules, add, locked, changes } = drafting;
  if (rules.length === 0 && changes.length === 0)
    return (
      <EmptyState
        icon={IconDatabase}
        title={t('cache.empty.title')}
        text={t('cache.empty.text')}
        action={
          !locked && (
            <>
              <Button leftSection={<IconPlus size={15} stroke={1.8} />} onClick={() => add(staticFiles())}>
                {t('cache.empty.suggest')}
              </Button>
              <Button variant="default" onClick={() => add(newRule())}>
                {t('cache.create')}
              </Button>
            </>
          )
        }
      />
    );
  return (
    <>
      <div className={classes['panel']}>
        <p className={classes['order']}>
          {t('cache.order')} {t('cache.otherwise')}
        </p>
        <RuleList drafting={drafting} label={t('cache.rules')} sentence={RuleSentence} editor={RuleEditor} />
      </div>
      <RulesBar lists={[drafting]} />
    </>
  );
}
