import type { Received } from '@edgeloom/contract/endpoint.ts';
import { proxyRewrites } from '@edgeloom/contract/modules/modules.endpoints.ts';
import { ProxyRewriteInput, RewriteType } from '@edgeloom/contract/modules/proxy-rewrites.ts';
import { ActionIcon, Button, Checkbox, Select, Switch, TextInput } from '@mantine/core';
import { IconArrowUp, IconPlus, IconX } from '@tabler/icons-react';
import { useField } from '../../components/resource-form/form-state.ts';
import { useT } from '../../lib/i18n.ts';
import { ModuleForm } from './module-form.tsx';
import classes from './modules.module.css';

export type ProxyRewrite = Received<typeof proxyRewrites.list>['data'][number];

type Rule = ProxyRewrite['rules'][number];
const fresh: Rule = {
  type: 'prefix',
  source: '',
  target: '',
  keepRest: true,
  keepQuery: true,
  host: null,
  enabled: true,
};

export function ProxyRewritesForm({ siteId, value }: { siteId: string; value: ProxyRewrite | undefined }) {
  return (
    <ModuleForm
      kind="proxyRewrite"
      endpoints={proxyRewrites}
      siteId={siteId}
      value={value}
      initial={{ rules: [fresh] }}
      schema={ProxyRewriteInput}
    >
      <RulesField />
    </ModuleForm>
  );
}

const isRule = (rule: unknown): rule is Rule =>
  typeof rule === 'object' && rule !== null && 'source' in rule && 'target' in rule;

function RulesField() {
  const t = useT();
  const { value, set, inner, input } = useField('rules');
  const rules = Array.isArray(value) ? value.filter(isRule) : [];
  return (
    <div>
      <p className={classes['hint']}>{t('proxyRewrites.order')}</p>
      <ol className={classes['headers']} aria-label={input.label}>
        {rules.map((rule, i) => (
          <RuleFields
            // oxlint-disable-next-line react/no-array-index-key -- a rule is identified by its position
            key={i}
            n={i + 1}
            rule={rule}
            fault={(field) => inner.get(`${i}.${field}`)}
            onBlur={input.onBlur}
            onChange={(part) => set(rules.with(i, { ...rule, ...part }))}
            onUp={() => set(rules.toSpliced(i, 1).toSpliced(i - 1, 0, rule))}
            onRemove={() => set(rules.toSpliced(i, 1))}
          />
        ))}
      </ol>
      <Button
        size="xs"
        variant="default"
        data-creates="rewriteRule"
        leftSection={<IconPlus size={14} stroke={1.8} />}
        onClick={() => set([...rules, fresh])}
      >
        {t('proxyRewrites.add')}
      </Button>
    </div>
  );
}

interface RuleFieldsProps {
  n: number;
  rule: Rule;
  fault: (field: string) => string | undefined;
  onBlur: () => void;
  onChange: (part: Partial<Rule>) => void;
  onUp: () => void;
  onRemove: () => void;
}

function RuleFields({ n, rule, fault, onBlur, onChange, onUp, onRemove }: RuleFieldsProps) {
  const t = useT();
  const mono = { classNames: { input: classes['mono'] ?? '' }, spellCheck: false, autoCapitalize: 'off', onBlur };
  return (
    <li className={classes['rewrite']}>
      <div className={classes['pair']}>
        <div>
          <Select
            label={t('redirects.fields.type')}
            data={RewriteType.options.map((one) => ({ value: one, label: t(`redirects.choices.type.${one}`) }))}
            value={rule.type}
            allowDeselect={false}
            onChange={(next) => onChange({ type: RewriteType.options.find((one) => one === next) ?? 'prefix' })}
          />
        </div>
        <TextInput
          {...mono}
          label={t('proxyRewrites.nth.source', { n })}
          placeholder={rule.type === 'regex' ? '^/img/([a-z]+)$' : '/api'}
          value={rule.source}
          error={fault('source')}
          onChange={({ currentTarget }) => onChange({ source: currentTarget.value })}
        />
        <TextInput
          {...mono}
          label={t('proxyRewrites.nth.target', { n })}
          placeholder={rule.type === 'regex' ? '/images/$1' : '/v2/api'}
          value={rule.target}
          error={fault('target')}
          onChange={({ currentTarget }) => onChange({ target: currentTarget.value })}
        />
        <TextInput
          {...mono}
          label={t('proxyRewrites.nth.host', { n })}
          placeholder={t('proxyRewrites.sameHost')}
          value={rule.host ?? ''}
          error={fault('host')}
          onChange={({ currentTarget }) => onChange({ host: currentTarget.value === '' ? null : currentTarget.value })}
        />
      </div>
      <div className={classes['options']}>
        <Checkbox
          label={t('redirects.fields.keepQuery')}
          checked={rule.keepQuery}
          onChange={({ currentTarget }) => onChange({ keepQuery: currentTarget.checked })}
        />
        {rule.type === 'prefix' && (
          <Checkbox
            label={t('redirects.fields.keepRest')}
            checked={rule.keepRest}
            onChange={({ currentTarget }) => onChange({ keepRest: currentTarget.checked })}
          />
        )}
        <Switch
          size="xs"
          label={t('common.on')}
          aria-label={t('proxyRewrites.nth.on', { n })}
          checked={rule.enabled}
          onChange={({ currentTarget }) => onChange({ enabled: currentTarget.checked })}
        />
        <span className={classes['push']} />
        <ActionIcon aria-label={t('proxyRewrites.nth.up', { n })} disabled={n === 1} onClick={onUp}>
          <IconArrowUp size={15} stroke={1.6} />
        </ActionIcon>
        <ActionIcon aria-label={t('proxyRewrites.nth.remove', { n })} onClick={onRemove}>
          <IconX size={15} stroke={1.6} />
        </ActionIcon>
      </div>
    </li>
  );
}
