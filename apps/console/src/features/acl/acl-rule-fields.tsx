import { AclAction, AclLimitMode } from '@edgeloom/contract/acl/acl.ts';
import { Button, Checkbox, Select, TextInput } from '@mantine/core';
import { IconPlus } from '@tabler/icons-react';
import { useT } from '../../lib/i18n.ts';
import classes from './acl.module.css';
import { isRedirect, newCondition, withoutLimitMode, type Condition, type Rule } from './acl-draft.ts';
import { AclConditionFields } from './acl-condition-fields.tsx';

interface AclRuleFieldsProps {
  n: number;
  rule: Rule;
  faults: ReadonlyMap<string, string>;
  onChange: (rule: Rule) => void;
}

export function AclRuleFields({ n, rule, faults, onChange }: AclRuleFieldsProps) {
  const t = useT();
  const { conditions } = rule;
  const setConditions = (next: Condition[]) => onChange({ ...rule, conditions: next });
  return (
    <div className={classes['editor']}>
      <TextInput
        label={t('acls.nth.name', { n })}
        value={rule.name}
        error={faults.get('name')}
        onChange={({ currentTarget }) => onChange({ ...rule, name: currentTarget.value })}
      />
      <ul className={classes['conditions']}>
        {conditions.map((condition, i) => (
          <AclConditionFields
            // oxlint-disable-next-line react/no-array-index-key -- a condition is identified by its position
            key={i}
            n={i + 1}
            only={conditions.length === 1}
            condition={condition}
            fault={(field) =>
              [...faults].find(
                ([path]) => path === `conditions.${i}.${field}` || path.startsWith(`conditions.${i}.${field}.`),
              )?.[1]
            }
            onChange={(changed) => setConditions(conditions.with(i, changed))}
            onRemove={() => setConditions(conditions.toSpliced(i, 1))}
          />
        ))}
      </ul>
      <div>
        <Button
          size="xs"
          variant="default"
          leftSection={<IconPlus size={14} stroke={1.8} />}
          onClick={() => setConditions([...conditions, newCondition])}
        >
          {t('acls.addCondition')}
        </Button>
      </div>
      <div className={classes['pair']}>
        <div>
          <Select
            label={t('acls.nth.action', { n })}
            data={AclAction.options.map((one) => ({ value: one, label: t(`acls.choices.action.${one}`) }))}
            value={rule.action}
            allowDeselect={false}
            onChange={(next) => {
              const action = AclAction.options.find((one) => one === next) ?? 'deny';
              onChange({ ...rule, action, target: isRedirect({ action }) ? (rule.target ?? '') : null });
            }}
          />
        </div>
        {isRedirect(rule) && (
          <TextInput
            classNames={{ input: classes['mono'] ?? '' }}
            label={t('acls.nth.target', { n })}
            placeholder="/"
            value={rule.target ?? ''}
            error={faults.get('target')}
            onChange={({ currentTarget }) => onChange({ ...rule, target: currentTarget.value })}
          />
        )}
        <div>
          <Select
            label={t('acls.limitMode')}
            description={t('acls.limitModeWhy')}
            data={AclLimitMode.options.map((one) => ({ value: one, label: t(`acls.choices.limitMode.${one}`) }))}
            value={rule.limitMode ?? null}
            placeholder={t('acls.choices.limitMode.default')}
            clearable
            onChange={(next) => {
              const limitMode = AclLimitMode.options.find((one) => one === next);
              onChange({ ...withoutLimitMode(rule), ...(limitMode && { limitMode }) });
            }}
          />
        </div>
      </div>
      <Checkbox
        label={t('acls.monitor')}
        description={t('acls.monitorWhy')}
        checked={rule.monitor}
        onChange={({ currentTarget }) => onChange({ ...rule, monitor: currentTarget.checked })}
      />
    </div>
  );
}
