import { wafLimits } from '@edgeloom/contract/waf/waf.ts';
import { ActionIcon, Button, Group, Input, Select, Stack, TextInput } from '@mantine/core';
import { IconPlus, IconTrash } from '@tabler/icons-react';
import { useState } from 'react';
import { TimeInput } from '../../components/fields/time-input.tsx';
import { useField } from '../../components/resource-form/form-state.ts';
import { useT } from '../../lib/i18n.ts';

interface Exception {
  rule: string | null;
  path: string | null;
  parameter: string | null;
  /** A draft of an earlier release has none of these. */
  host?: string | null;
  until?: string | null;
  note?: string;
}
const NEW: Exception = { rule: null, path: null, parameter: null, host: null, until: null, note: '' };
const isException = (value: unknown): value is Exception =>
  typeof value === 'object' && value !== null && 'rule' in value && 'path' in value && 'parameter' in value;

/** Where rules do not apply. `choices`: categories and rules. */
export function ExceptionsField({ choices }: { choices: { value: string; label: string }[] }) {
  const t = useT();
  const [openedAt] = useState(Date.now);
  const { value, set, inner, input } = useField('exceptions');
  const rows = Array.isArray(value) ? value.filter(isException) : [];
  const change = (at: number, changed: Partial<Exception>) =>
    set(rows.map((row, i) => (i === at ? { ...row, ...changed } : row)));
  const text = (typed: string) => (typed === '' ? null : typed);
  return (
    <Input.Wrapper label={input.label} labelElement="div" error={input.error ?? [...inner.values()][0] ?? null}>
      <Stack gap="md">
        {rows.map((row, i) => (
          // oxlint-disable-next-line react/no-array-index-key -- an exception is identified by its position
          <Group key={i} gap="xs" wrap="wrap" align="end">
            <Select
              flex="2 1 180px"
              label={t('wafs.fields.rule')}
              data={choices}
              searchable
              clearable
              placeholder={t('wafs.anyRule')}
              value={row.rule}
              onChange={(rule) => change(i, { rule })}
            />
            <TextInput
              flex="1 1 120px"
              label={t('wafs.fields.path')}
              value={row.path ?? ''}
              onChange={(event) => change(i, { path: text(event.currentTarget.value) })}
            />
            <TextInput
              flex="1 1 120px"
              label={t('wafs.fields.parameter')}
              value={row.parameter ?? ''}
              onChange={(event) => change(i, { parameter: text(event.currentTarget.value) })}
            />
            <TextInput
              flex="1 1 150px"
              label={t('wafs.fields.host')}
              value={row.host ?? ''}
              onChange={(event) => change(i, { host: text(event.currentTarget.value) })}
            />
            <TimeInput
              flex="1 1 180px"
              label={row.until && Date.parse(row.until) <= openedAt ? t('wafs.ended') : t('wafs.fields.until')}
              value={row.until ?? null}
              onChange={(until) => change(i, { until })}
            />
            <TextInput
              flex="1 1 150px"
              label={t('wafs.fields.note')}
              value={row.note ?? ''}
              maxLength={256}
              onChange={(event) => change(i, { note: event.currentTarget.value })}
            />
            <ActionIcon
              mb={6}
              aria-label={t('wafs.removeException', { n: i + 1 })}
              onClick={() => set(rows.toSpliced(i, 1))}
            >
              <IconTrash size={15} stroke={1.6} />
            </ActionIcon>
          </Group>
        ))}
        <div>
          <Button
            variant="default"
            size="xs"
            leftSection={<IconPlus size={14} stroke={1.8} />}
            disabled={rows.length >= wafLimits.exceptions}
            onClick={() => set([...rows, NEW])}
          >
            {t('wafs.addException')}
          </Button>
        </div>
      </Stack>
    </Input.Wrapper>
  );
}
