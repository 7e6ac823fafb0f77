import { alertFrequency } from '@edgeloom/contract/notify-setting/notify-setting.endpoints.ts';
import { ChoiceField } from '../../components/fields/choice-field.tsx';
import { NumberField } from '../../components/fields/number-field.tsx';
import { Page, useTab } from '../../components/page/page.tsx';
import { Section } from '../../components/page/section.tsx';
import { ResourceForm } from '../../components/resource-form/resource-form.tsx';
import { Await } from '../../components/states/await.tsx';
import { family } from '../../lib/family.ts';
import { useEndpoint } from '../../lib/use-endpoint.ts';
import { useSession } from '../../stores/session.ts';
import { AlertHistory } from './alert-history.tsx';
import { TelegramForm } from './telegram-form.tsx';

const tabs = [
  { value: 'history', label: 'notifySetting.tabs.history' },
  { value: 'channels', label: 'notifySetting.tabs.channels' },
] as const;

/** The history of alerts, and where they are sent. Channels belong to root accounts. */
export function NotifySettingPage() {
  const isRoot = useSession(({ account }) => account?.isRoot === true);
  const shown = isRoot ? tabs : tabs.slice(0, 1);
  const tab = useTab(shown);
  return (
    <Page title="notifySetting.title" {...(isRoot && { tabs })}>
      {tab === 'history' ? (
        <AlertHistory />
      ) : (
        <>
          <TelegramForm />
          {family === 'client' && <FrequencyForm />}
        </>
      )}
    </Page>
  );
}

function FrequencyForm() {
  return (
    <Await result={useEndpoint(alertFrequency.get)}>
      {(value) => (
        <ResourceForm update={alertFrequency.update} value={value}>
          <Section title="alertFrequency.title" why="alertFrequency.why">
            <NumberField name="intervalMinutes" min={0} max={1440} />
            <ChoiceField name="grouping" />
          </Section>
        </ResourceForm>
      )}
    </Await>
  );
}
