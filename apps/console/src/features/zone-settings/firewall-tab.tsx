import { Network, ZoneFirewallInput } from '@edgeloom/contract/zone-firewall/zone-firewall.ts';
import { zoneSettings } from '@edgeloom/contract/zone-settings/zone-settings.endpoints.ts';
import { Switch } from '@mantine/core';
import { Section } from '../../components/page/section.tsx';
import { useT } from '../../lib/i18n.ts';
import { useCan } from '../../lib/use-can.ts';
import type { Settings } from './draft.ts';
import { Drafting } from './drafting.tsx';
import { RiskLevel } from './risk-level.tsx';
import { VisitorAddressSection } from './visitor-address-section.tsx';
import { DroppedSection } from './dropped-section.tsx';
import { LinesSetting } from './lines-setting.tsx';

/** Firewall settings of a zone. */
export function FirewallTab({ zoneId, settings }: { zoneId: string; settings: Settings }) {
  const t = useT();
  const can = useCan();
  const disabled = !can(zoneSettings.set);
  return (
    <Drafting zoneId={zoneId} settings={settings}>
      {({ firewall, visitorAddress }, set) => (
        <>
          <Section title="zoneSettings.lists" why="zoneSettings.listsWhy">
            <Networks
              name="whitelist"
              value={firewall.whitelist}
              disabled={disabled}
              onChange={(whitelist) => set({ firewall: { ...firewall, whitelist } })}
            />
            <Networks
              name="blacklist"
              value={firewall.blacklist}
              disabled={disabled}
              onChange={(blacklist) => set({ firewall: { ...firewall, blacklist } })}
            />
          </Section>
          <Section title="zoneSettings.risk" why="zoneSettings.riskWhy">
            <RiskLevel
              zoneId={zoneId}
              value={firewall.level}
              disabled={disabled}
              onChange={(level) => set({ firewall: { ...firewall, level } })}
            />
          </Section>
          <Section title="zoneSettings.hasty" why="zoneSettings.hastyWhy">
            <Switch
              label={t('zoneSettings.fields.synProtection')}
              description={t('zoneSettings.hints.synProtection')}
              disabled={disabled}
              checked={firewall.synProtection}
              onChange={(event) => set({ firewall: { ...firewall, synProtection: event.currentTarget.checked } })}
            />
          </Section>
          <VisitorAddressSection
            value={visitorAddress}
            stored={settings.visitorAddress}
            ports={settings.ports}
            disabled={disabled}
            onChange={(next) => set({ visitorAddress: next })}
          />
          <DroppedSection zoneId={zoneId} />
        </>
      )}
    </Drafting>
  );
}

interface NetworksProps {
  name: 'whitelist' | 'blacklist';
  value: readonly string[];
  disabled: boolean;
  onChange: (networks: string[]) => void;
}

function Networks({ name, value, disabled, onChange }: NetworksProps) {
  const t = useT();
  return (
    <LinesSetting
      label={t(`zoneSettings.fields.${name}`)}
      hint={t(`zoneSettings.hints.${name}`)}
      schema={ZoneFirewallInput.shape[name]}
      judge={(line) => (Network.safeParse(line).success ? null : t('zoneSettings.badNetwork'))}
      twice={t('errorMessages.duplicate IP')}
      placeholder={'203.0.113.7\n2001:db8::/32'}
      {...{ name, value, disabled, onChange }}
    />
  );
}
