import { emailSetting } from '@edgeloom/contract/email-setting/email-setting.endpoints.ts';
import type { EmailSetting } from '@edgeloom/contract/email-setting/email-setting.ts';
import { EmailSettingInput } from '@edgeloom/contract/email-setting/email-setting.ts';
import type { Received } from '@edgeloom/contract/endpoint.ts';
import { Button } from '@mantine/core';
import { IconMailFast } from '@tabler/icons-react';
import { useState } from 'react';
import { ChoiceField } from '../../components/fields/choice-field.tsx';
import { NumberField } from '../../components/fields/number-field.tsx';
import { PasswordField } from '../../components/fields/password-field.tsx';
import { SwitchField } from '../../components/fields/switch-field.tsx';
import { TextField } from '../../components/fields/text-field.tsx';
import { Section } from '../../components/page/section.tsx';
import { useForm } from '../../components/resource-form/form-state.ts';
import { ResourceForm } from '../../components/resource-form/resource-form.tsx';
import { Await } from '../../components/states/await.tsx';
import { StatusMark } from '../../components/status/status-mark.tsx';
import { Time } from '../../components/values/values.tsx';
import { explain, fieldErrorsOf, ruleText, withCode } from '../../lib/errors.ts';
import { useT } from '../../lib/i18n.ts';
import { useEndpoint, useAction } from '../../lib/use-endpoint.ts';
import classes from './email-setting.module.css';

type Setting = Received<typeof emailSetting.get>;
const none: Omit<EmailSetting, 'hasPassword' | 'lastError' | 'failedAt' | 'updatedAt'> = {
  enabled: false,
  host: '',
  port: 587,
  security: 'starttls',
  username: '',
  fromName: '',
  fromAddress: '',
};

/** The operator's mail server. */
export function EmailSettingForm() {
  return (
    <Await result={useEndpoint(emailSetting.get)}>
      {(value) => (
        <ResourceForm update={emailSetting.update} value={value ?? none}>
          <Failing of={value} />
          <Section title="emailSetting.server" why="emailSetting.serverWhy">
            <SwitchField name="enabled" />
            <TextField name="host" placeholder="smtp.example.com" />
            <NumberField name="port" min={1} max={65_535} />
            <ChoiceField name="security" />
            <TextField name="username" />
            <PasswordField name="password" fresh />
          </Section>
          <Section title="emailSetting.sender" why="emailSetting.senderWhy">
            <TextField name="fromName" />
            <TextField name="fromAddress" />
          </Section>
          <Section title="emailSetting.test" why="emailSetting.testWhy">
            <Test />
          </Section>
        </ResourceForm>
      )}
    </Await>
  );
}

function Failing({ of }: { of: Setting }) {
  const t = useT();
  if (of === null || of.lastError === null) return null;
  return (
    <p className={classes['failing']}>
      <StatusMark tone="warn" label={t('status.tone.warn')} />
      <span>
        {t('emailSetting.failing')} <Time at={of.failedAt} />
      </span>
      <code>{of.lastError}</code>
    </p>
  );
}

/** Sends a test mail with the form's current settings. */
function Test() {
  const t = useT();
  const { values } = useForm();
  const { run, running } = useAction(emailSetting.test, { done: 'emailSetting.tested', quiet: true });
  const [refused, setRefused] = useState<string | null>(null);
  const input = EmailSettingInput.safeParse(values);

  async function send() {
    setRefused(null);
    if (!input.success) return;
    try {
      await run({ body: input.data });
    } catch (error) {
      const particulars = fieldErrorsOf(error).map(({ rule, message }) => `${ruleText(rule, '')} ${message}`);
      setRefused([withCode(explain(error)), ...particulars].join(t('common.colon')));
    }
  }
  return (
    <div className={classes['test']}>
      <Button
        variant="default"
        leftSection={<IconMailFast size={16} stroke={1.6} />}
        loading={running}
        disabled={!input.success}
        onClick={() => void send()}
      >
        {t('emailSetting.send')}
      </Button>
      {refused !== null && (
        <p role="alert" className={classes['refused']}>
          {refused}
        </p>
      )}
    </div>
  );
}
