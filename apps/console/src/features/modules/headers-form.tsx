import type { Received } from '@edgeloom/contract/endpoint.ts';
import {
  CustomHeaderInput,
  HeaderAction,
  HeaderDirection,
  headerVariables,
} from '@edgeloom/contract/modules/custom-headers.ts';
import { customHeaders } from '@edgeloom/contract/modules/modules.endpoints.ts';
import { ActionIcon, Button, Select, TextInput } from '@mantine/core';
import { IconPlus, IconX } from '@tabler/icons-react';
import { useField } from '../../components/resource-form/form-state.ts';
import { useT } from '../../lib/i18n.ts';
import { ModuleForm } from './module-form.tsx';
import classes from './modules.module.css';

export type CustomHeader = Received<typeof customHeaders.list>['data'][number];

type Header = CustomHeader['headers'][number];
const fresh: Header = { direction: 'response', action: 'set', name: '', value: '' };

export function HeadersForm({ siteId, value }: { siteId: string; value: CustomHeader | undefined }) {
  return (
    <ModuleForm
      kind="customHeader"
      endpoints={customHeaders}
      siteId={siteId}
      value={value}
      initial={{ headers: [fresh] }}
      schema={CustomHeaderInput}
      says={{ 10102502: 'customHeaders.twice' }}
    >
      <HeadersField />
    </ModuleForm>
  );
}

const isHeader = (header: unknown): header is Header =>
  typeof header === 'object' && header !== null && 'direction' in header && 'action' in header;

function HeadersField() {
  const t = useT();
  const { value, set, inner, input } = useField('headers');
  const headers = Array.isArray(value) ? value.filter(isHeader) : [];
  const change = (i: number, part: Partial<Header>) =>
    set(headers.map((one, at) => (at === i ? { ...one, ...part } : one)));
  return (
    <div>
      <p className={classes['hint']}>
        {t('customHeaders.variables', { names: headerVariables.map((name) => `{${name}}`).join(' ') })}
      </p>
      <ul className={classes['headers']} aria-label={input.label}>
        {headers.map((header, i) => (
          // oxlint-disable-next-line react/no-array-index-key -- a header has no name until the user types one
          <li key={i} className={classes['header']}>
            <div>
              <Select
                aria-label={t('customHeaders.nth.direction', { n: i + 1 })}
                data={HeaderDirection.options.map((one) => ({
                  value: one,
                  label: t(`customHeaders.choices.direction.${one}`),
                }))}
                value={header.direction}
                allowDeselect={false}
                onChange={(next) => change(i, { direction: next === 'request' ? 'request' : 'response' })}
              />
            </div>
            <div>
              <Select
                aria-label={t('customHeaders.nth.action', { n: i + 1 })}
                data={HeaderAction.options.map((one) => ({
                  value: one,
                  label: t(`customHeaders.choices.action.${one}`),
                }))}
                value={header.action}
                allowDeselect={false}
                onChange={(next) => {
                  const action = HeaderAction.options.find((one) => one === next) ?? 'set';
                  change(i, { action, ...(action === 'remove' && { value: '' }) });
                }}
              />
            </div>
            <TextInput
              aria-label={t('customHeaders.nth.name', { n: i + 1 })}
              placeholder="X-Frame-Options"
              value={header.name}
              error={inner.get(`${i}.name`)}
              spellCheck={false}
              autoCapitalize="off"
              classNames={{ input: classes['mono'] ?? '' }}
              onBlur={input.onBlur}
              onChange={({ currentTarget }) => change(i, { name: currentTarget.value })}
            />
            <TextInput
              aria-label={t('customHeaders.nth.value', { n: i + 1 })}
              placeholder={header.action === 'remove' ? '' : 'DENY'}
              value={header.value}
              disabled={header.action === 'remove'}
              error={inner.get(`${i}.value`)}
              spellCheck={false}
              classNames={{ input: classes['mono'] ?? '' }}
              onBlur={input.onBlur}
              onChange={({ currentTarget }) => change(i, { value: currentTarget.value })}
            />
            <div className={classes['away']}>
              <ActionIcon
                aria-label={t('customHeaders.nth.remove', { n: i + 1 })}
                disabled={headers.length === 1}
                onClick={() => set(headers.toSpliced(i, 1))}
              >
                <IconX size={15} stroke={1.6} />
              </ActionIcon>
            </div>
          </li>
        ))}
      </ul>
      {input.error && (
        <p className={classes['fault']} role="alert">
          {input.error}
        </p>
      )}
      <Button
        size="xs"
        variant="default"
        leftSection={<IconPlus size={14} stroke={1.8} />}
        onClick={() => set([...headers, fresh])}
      >
        {t('customHeaders.add')}
      </Button>
    </div>
  );
}
