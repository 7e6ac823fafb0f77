import { NewApiToken } from '@edgeloom/contract/auth/api-tokens.ts';
import { apiTokens } from '@edgeloom/contract/auth/auth.endpoints.ts';
import { Select } from '@mantine/core';
import { useState } from 'react';
import { LinesField } from '../../components/fields/lines-field.tsx';
import { PermissionsField } from '../../components/fields/permissions-field.tsx';
import { TextField } from '../../components/fields/text-field.tsx';
import { TimeField } from '../../components/fields/time-field.tsx';
import { useOverlay } from '../../components/overlay/overlay.tsx';
import { useField } from '../../components/resource-form/form-state.ts';
import { ResourceForm } from '../../components/resource-form/resource-form.tsx';
import { useT } from '../../lib/i18n.ts';
import { TokenShown } from './token-shown.tsx';

export function ApiTokenForm() {
  const t = useT();
  const overlay = useOverlay();
  const [start] = useState(() => inDays(90));
  return (
    <ResourceForm
      create={apiTokens.create}
      initial={{ permissions: [], expiresAt: start }}
      onDone={(reply) => {
        overlay(<TokenShown token={NewApiToken.parse(reply).refreshToken} />, { title: 'apiTokens.shown.title' });
      }}
    >
      <TextField name="name" />
      <ExpiryField name="expiresAt" />
      <LinesField
        name="cidrs"
        rows={2}
        placeholder={t('apiTokens.everywhere')}
        twice={t('errorMessages.duplicate IP')}
      />
      <PermissionsField name="permissions" />
    </ResourceForm>
  );
}

const DAY_MS = 86_400_000;
const inDays = (days: number) => new Date(Date.now() + days * DAY_MS).toISOString();
const days = { d30: 30, d90: 90, d365: 365 } as const;
const lives = ['d30', 'd90', 'd365', 'never', 'custom'] as const;
type Life = (typeof lives)[number];
const isLife = (text: string | null): text is Life => lives.some((life) => life === text);

/** Defaults to some months; a token without expiry must be chosen. */
function ExpiryField({ name }: { name: string }) {
  const t = useT();
  const { set, input } = useField(name);
  const [life, setLife] = useState<Life>('d90');
  const choose = (next: Life) => {
    setLife(next);
    if (next === 'never') set(null);
    else if (next !== 'custom') set(inDays(days[next]));
  };
  return (
    <>
      <Select
        label={t('apiTokens.life')}
        disabled={input.disabled}
        allowDeselect={false}
        data={lives.map((value) => ({ value, label: t(`apiTokens.lives.${value}`) }))}
        value={life}
        onChange={(next) => isLife(next) && choose(next)}
      />
      {life === 'custom' && <TimeField name={name} />}
    </>
  );
}
