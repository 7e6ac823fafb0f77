import { cacheRules } from '@edgeloom/contract/cache/cache.endpoints.ts';
import { Button } from '@mantine/core';
import { IconDatabase, IconPlus } from '@tabler/icons-react';
import { useRef, useState } from 'react';
import { LeaveGuard } from '../../components/leave-guard/leave-guard.tsx';
import { SaveBar } from '../../components/save-bar/save-bar.tsx';
import { EmptyState } from '../../components/states/states.tsx';
import { useT } from '../../lib/i18n.ts';
import { useCan } from '../../lib/use-can.ts';
import { toast } from '../../stores/toasts.ts';
import classes from './cache.module.css';
import { RuleRow } from './rule-row.tsx';
import { changesOf, differs, faultsOf, moved, newRule, staticFiles, type DraftRule } from './rules-draft.ts';
import type { Drafting } from './use-drafting.ts';

/** The rules of a site, top to bottom; what is changed stays a draft until it is published. */
export function RulesTab({ drafting }: { drafting: Drafting }) {
  const t = useT();
  const can = useCan();
  const { live, rules, set, open, setOpen, add, publish, publishing, discard } = drafting;
  const [moving, setMoving] = useState('');
  const list = useRef<HTMLOListElement>(null);
  const locked = !can(cacheRules.update);
  const changes = changesOf(live, rules, t);

  const move = (key: string, to: number) => {
    if (to < 0 || to >= rules.length) return;
    set(moved(rules, key, to));
    setMoving(t('cache.edit.moved', { n: to + 1 }));
    // A row that moves in the document loses the focus, and the next Alt ↑ would go nowhere.
    requestAnimationFrame(() => list.current?.querySelector<HTMLElement>(`[data-rule="${key}"] button`)?.focus());
  };
  const onSave = async () => {
    const wrong = rules.find((rule) => Object.keys(faultsOf(rule)).length > 0);
    if (wrong) return setOpen(wrong.key);
    if (await publish()) toast({ text: t('cache.done.published') });
  };
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
      <LeaveGuard when={changes.length > 0} />
      <div className={classes['panel']}>
        <p className={classes['order']}>
          {t('cache.order')} {t('cache.otherwise')}
        </p>
        <ol ref={list} className={classes['rules']} aria-label={t('cache.rules')}>
          {rules.map((rule, i) => (
            <RuleRow
              key={rule.key}
              rule={rule}
              n={i + 1}
              count={rules.length}
              open={open === rule.key}
              draft={differs(live, rule)}
              locked={locked}
              onOpen={(is) => setOpen(is ? rule.key : null)}
              onChange={(changed) => set(rules.with(i, changed))}
              onMove={(to) => move(rule.key, to)}
              onDuplicate={() => add(newRule(copied(rule)), i + 1)}
              onRemove={() => set(rules.toSpliced(i, 1))}
              onDrop={(key) => move(key, i)}
            />
          ))}
        </ol>
        <output className="hidden-text">{moving}</output>
      </div>
      <SaveBar
        changes={changes}
        saving={publishing}
        saveLabel="common.publish"
        onSave={() => void onSave()}
        onDiscard={discard}
      />
    </>
  );
}

const copied = ({ id: _, key: __, ...fields }: DraftRule) => fields;
