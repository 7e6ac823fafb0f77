import { zoneSettings } from '@edgeloom/contract/zone-settings/zone-settings.endpoints.ts';
import { Select, Switch } from '@mantine/core';
import { Section } from '../../components/page/section.tsx';
import { useT } from '../../lib/i18n.ts';
import { useCan } from '../../lib/use-can.ts';
import type { Settings } from './draft.ts';
import { Drafting } from './drafting.tsx';
import { NumberSetting } from './number-setting.tsx';

const codes = [301, 302, 307, 308] as const;

/** TLS settings of a zone, and its rollout settings. */
export function ProtocolsTab({ zoneId, settings }: { zoneId: string; settings: Settings }) {
  const t = useT();
  const can = useCan();
  const disabled = !can(zoneSettings.set);
  return (
    <Drafting zoneId={zoneId} settings={settings}>
      {({ http2, http3, forceSSLRedirectCode, soakSeconds }, set) => (
        <>
          <Section title="zoneSettings.protocols" why="zoneSettings.protocolsWhy">
            <Switch
              label={t('zoneSettings.fields.http2')}
              {...{ disabled }}
              checked={http2}
              onChange={(event) => set({ http2: event.currentTarget.checked })}
            />
            <Switch
              label={t('zoneSettings.fields.http3')}
              description={t('zoneSettings.hints.http3')}
              {...{ disabled }}
              checked={http3}
              onChange={(event) => set({ http3: event.currentTarget.checked })}
            />
          </Section>
          <Section title="zones.redirect.title" why="zones.redirect.why">
            <div>
              <Select
                label={t('zoneSettings.fields.forceSSLRedirectCode')}
                data={codes.map((code) => ({ value: String(code), label: t(`zones.choices.code.${code}`) }))}
                value={String(forceSSLRedirectCode)}
                allowDeselect={false}
                {...{ disabled }}
                onChange={(next) => {
                  const code = codes.find((one) => String(one) === next);
                  if (code) set({ forceSSLRedirectCode: code });
                }}
              />
            </div>
          </Section>
          <Section title="zoneSettings.care" why="zoneSettings.careWhy">
            <NumberSetting
              label={t('zoneSettings.fields.soakSeconds')}
              hint={t('zoneSettings.hints.soakSeconds')}
              suffix={t('zoneSettings.secondsSuffix')}
              value={soakSeconds}
              min={0}
              max={86_400}
              {...{ disabled }}
              onChange={(next) => set({ soakSeconds: next })}
            />
          </Section>
        </>
      )}
    </Drafting>
  );
}
