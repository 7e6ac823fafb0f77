import type { Received } from '@edgeloom/contract/endpoint.ts';
import { notifySetting } from '@edgeloom/contract/notify-setting/notify-setting.endpoints.ts';
import { Button } from '@mantine/core';
import { IconSend } from '@tabler/icons-react';
import { useState } from 'react';
import { PasswordField } from '../../components/fields/password-field.tsx';
import { SwitchField } from '../../components/fields/switch-field.tsx';
import { TextField } from '../../components/fields/text-field.tsx';
import { Section } from '../../components/page/section.tsx';
import { useForm } from '../../components/resource-form/form-state.ts';
import { ResourceForm } from '../../components/resource-form/resource-form.tsx';
import { Await } from '../../components/states/await.tsx';
import { StatusMark } from '../../components/status/status-mark.tsx';
import { Time } from '../../components/values/values.tsx';
import { useT } from '../../lib/i18n.ts';
import { useAction, useEndpoint } from '../../lib/use-endpoint.ts';
import { AlertKindsField } from './alert-kinds-field.tsx';
import classes from './notify-setting.module.css';

type Setting = Received<typeof notifySetting.getTelegram>;

export function TelegramForm() {
  return (
    <Await result={useEndpoint(notifySetting.getTelegram)}>
      {(value) => (
        <ResourceForm update={notifySetting.updateTelegram} value={value}>
          <Failing of={value} />
          <Section title="notifySetting.telegram" why="notifySetting.telegramWhy">
            <SwitchField name="enabled" />
            <PasswordField name="token" fresh />
            <TextField name="chatID" mono />
            <AlertKindsField />
            <Test setting={value} />
          </Section>
        </ResourceForm>
      )}
    </Await>
  );
}

function Failing({ of: { lastError, failedAt } }: { of: Setting }) {
  const t = useT();
  if (lastError === null) return null;
  return (
    <p className={classes['failing']}>
      <StatusMark tone="warn" label={t('status.tone.warn')} />
      <span>
        {t('notifySetting.failing')} <Time at={failedAt} />
      </span>
      <span>{t(`notifySetting.errors.${lastError}`)}</span>
    </p>
  );
}

/** Sends a message with the stored setting, so that unsaved changes must be saved before. */
function Test({ setting }: { setting: Setting }) {
  const t = useT();
  const { values } = useForm();
  const isSaved = !values['token'] && values['chatID'] === setting.chatID;
  const { run, running } = useAction(notifySetting.testTelegram);
  const [result, setResult] = useState<string | null>(null);
  async function send() {
    setResult(null);
    const reply = await run({});
    if (reply === null) return;
    setResult(t(reply.error === null ? 'notifySetting.sent' : `notifySetting.errors.${reply.error}`));
  }
  return (
    <div className={classes['test']}>
      <Button
        variant="default"
        leftSection={<IconSend size={16} stroke={1.6} />}
        loading={running}
        disabled={!isSaved || !setting.hasToken || setting.chatID === ''}
        onClick={() => void send().catch(() => undefined)}
      >
        {t('notifySetting.send')}
      </Button>
      <output>{isSaved ? result : t('notifySetting.saveFirst')}</output>
    </div>
  );
}
