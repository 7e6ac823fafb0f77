import { acls } from '@edgeloom/contract/acl/acl.endpoints.ts';
import { ACL_RULES_OF_A_MODULE, AclUpdate } from '@edgeloom/contract/acl/acl.ts';
import { Button } from '@mantine/core';
import { IconPlus } from '@tabler/icons-react';
import { useRef, useState } from 'react';
import { useField } from '../../components/resource-form/form-state.ts';
import { useT } from '../../lib/i18n.ts';
import { ModuleForm } from '../modules/module-form.tsx';
import classes from './acl.module.css';
import { isRule, newRule, type Acl, type Rule } from './acl-draft.ts';
import { AclRuleItem } from './acl-rule-item.tsx';

const schema = AclUpdate.omit({ id: true });

export function AclForm({ siteId, value }: { siteId: string; value: Acl | undefined }) {
  const t = useT();
  return (
    <ModuleForm
      kind="acl"
      endpoints={acls}
      siteId={siteId}
      value={value}
      initial={{ rules: [newRule(t('acls.nth.rule', { n: 1 }))] }}
      schema={schema}
    >
      <RulesField isNew={!value} />
    </ModuleForm>
  );
}

function RulesField({ isNew }: { isNew: boolean }) {
  const t = useT();
  const { value, set, inner, input } = useField('rules');
  const rules = Array.isArray(value) ? value.filter(isRule) : [];
  const [open, setOpen] = useState(isNew ? 0 : -1);
  const [moved, setMoved] = useState('');
  const list = useRef<HTMLOListElement>(null);
  const move = (from: number, to: number) => {
    const rule = rules[from];
    if (!rule || to < 0 || to >= rules.length || from === to) return;
    set(rules.toSpliced(from, 1).toSpliced(to, 0, rule));
    setOpen(-1);
    setMoved(t('shared.rules.moved', { n: to + 1 }));
    // A moved row loses focus, which Alt ↑ needs.
    requestAnimationFrame(() => list.current?.querySelector<HTMLElement>(`[data-n="${to + 1}"] button`)?.focus());
  };
  const add = () => {
    set([...rules, newRule(t('acls.nth.rule', { n: rules.length + 1 }))]);
    setOpen(rules.length);
  };
  const faults = (i: number) =>
    new Map(
      [...inner].flatMap(([path, fault]) => (path.startsWith(`${i}.`) ? [[path.slice(`${i}.`.length), fault]] : [])),
    );
  return (
    <div>
      <p className={classes['hint']}>{t('acls.order')}</p>
      <ol ref={list} className={classes['rules']} aria-label={input.label}>
        {rules.map((rule, i) => (
          <AclRuleItem
            // oxlint-disable-next-line react/no-array-index-key -- a new rule is identified by its position
            key={i}
            n={i + 1}
            count={rules.length}
            rule={rule}
            open={open === i}
            faults={faults(i)}
            onOpen={(is) => setOpen(is ? i : -1)}
            onChange={(changed: Rule) => set(rules.with(i, changed))}
            onMove={(to) => move(i, to)}
            onDrop={(from) => move(from, i)}
            onRemove={() => {
              set(rules.toSpliced(i, 1));
              setOpen(-1);
            }}
          />
        ))}
      </ol>
      <Button
        size="xs"
        variant="default"
        data-creates="aclRule"
        leftSection={<IconPlus size={14} stroke={1.8} />}
        disabled={rules.length >= ACL_RULES_OF_A_MODULE}
        onClick={add}
      >
        {t('acls.add')}
      </Button>
      <output className={classes['spoken']}>{moved}</output>
    </div>
  );
}
