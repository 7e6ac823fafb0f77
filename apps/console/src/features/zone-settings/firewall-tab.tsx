import { Network } from '@edgeloom/contract/zone-firewall/zone-firewall.ts';
import { zoneSettings } from '@edgeloom/contract/zone-settings/zone-settings.endpoints.ts';
import { Switch } from '@mantine/core';
import { useId, useState } from 'react';
import { linesOf, verdictsOf } from '../../components/fields/lines.ts';
import { LinesInput } from '../../components/fields/lines-input.tsx';
import { Section } from '../../components/page/section.tsx';
import { useT } from '../../lib/i18n.ts';
import { useCan } from '../../lib/use-can.ts';
import { Drafting, type Settings } from './drafting.tsx';

/** Whom the nodes of a zone let in at all. */
export function FirewallTab({ zoneId, settings }: { zoneId: string; settings: Settings }) {
  const t = useT();
  const can = useCan();
  const disabled = !can(zoneSettings.set);
  return (
    <Drafting zoneId={zoneId} settings={settings}>
      {({ firewall }, set) => (
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
          <Section title="zoneSettings.hasty" why="zoneSettings.hastyWhy">
            <Switch
              label={t('zoneSettings.fields.synProtection')}
              description={t('zoneSettings.hints.synProtection')}
              disabled={disabled}
              checked={firewall.synProtection}
              onChange={(event) => set({ firewall: { ...firewall, synProtection: event.currentTarget.checked } })}
            />
          </Section>
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

/** What is typed is kept beside what it says: an empty last line is one that is about to be written. */
function Networks({ name, value, disabled, onChange }: NetworksProps) {
  const t = useT();
  const id = useId();
  const [typed, setTyped] = useState('');
  const text = linesOf(typed).join() === value.join() ? typed : value.join('\n');
  const judge = (line: string) => (Network.safeParse(line).success ? null : t('zoneSettings.badNetwork'));
  return (
    <LinesInput
      input={{
        id,
        label: t(`zoneSettings.fields.${name}`),
        description: t(`zoneSettings.hints.${name}`),
        disabled,
        name,
        error: null,
        required: false,
        withAsterisk: false,
        onBlur: () => undefined,
      }}
      text={text}
      count={value.length}
      verdicts={verdictsOf(value, judge, t('common.form.twice'))}
      placeholder={'203.0.113.7\n2001:db8::/32'}
      onChange={(next) => {
        setTyped(next);
        onChange(linesOf(next));
      }}
    />
  );
}
