import { AlertKind, alertKinds } from '@edgeloom/contract/alerts/alerts.ts';
import { webhooks } from '@edgeloom/contract/webhooks/webhooks.endpoints.ts';
import { NewWebhook } from '@edgeloom/contract/webhooks/webhooks.ts';
import { Button } from '@mantine/core';
import { SwitchField } from '../../components/fields/switch-field.tsx';
import { TextField } from '../../components/fields/text-field.tsx';
import { useOverlay, useOverlayClose } from '../../components/overlay/overlay.tsx';
import { ResourceForm } from '../../components/resource-form/resource-form.tsx';
import type { RowOf } from '../../components/resource-table/columns.tsx';
import { CodeBox } from '../../components/values/code-box.tsx';
import { useT } from '../../lib/i18n.ts';
import { AlertKindsField } from '../notify-setting/alert-kinds-field.tsx';
import classes from './webhooks.module.css';

export function WebhookForm({ value }: { value?: RowOf<typeof webhooks.list> }) {
  const overlay = useOverlay();
  return (
    <ResourceForm
      create={webhooks.create}
      update={webhooks.update}
      value={value}
      initial={{ enabled: true, events: AlertKind.options.filter((kind) => alertKinds[kind].isDefault) }}
      onDone={(reply) => {
        const { success, data } = NewWebhook.safeParse(reply);
        if (success) overlay(<SecretShown secret={data.secret} />, { title: 'webhooks.secret.title' });
      }}
    >
      <TextField name="name" />
      <TextField name="url" mono placeholder="https://alerts.example.com/hook" />
      <AlertKindsField />
      <SwitchField name="enabled" />
    </ResourceForm>
  );
}

/** Shows the new secret once. */
function SecretShown({ secret }: { secret: string }) {
  const t = useT();
  const close = useOverlayClose();
  return (
    <div className={classes['shown']}>
      <output>{t('webhooks.secret.once')}</output>
      <CodeBox text={secret} name={t('webhooks.secret.name')} />
      <div className="dialog-buttons">
        <Button onClick={close}>{t('webhooks.secret.stored')}</Button>
      </div>
    </div>
  );
}
