import type { ErrorMessage } from '@edgeloom/contract/messages.ts';
import {
  AddressHeader,
  allowsProxyProtocol,
  TrustedNetwork,
  VisitorAddressInput,
  visitorProxies,
  withAllowedPorts,
  type VisitorAddress,
} from '@edgeloom/contract/visitor-address/visitor-address.ts';
import { MultiSelect, Select, TextInput } from '@mantine/core';
import { Section } from '../../components/page/section.tsx';
import { ruleText } from '../../lib/errors.ts';
import { useT } from '../../lib/i18n.ts';
import { issuesOf } from '../../lib/schema.ts';
import { LinesSetting } from './lines-setting.tsx';

const RequiredNetworks = VisitorAddressInput.shape.networks.refine((networks) => networks.length > 0, {
  message: 'required' satisfies ErrorMessage,
});

interface VisitorAddressSectionProps {
  value: VisitorAddress;
  disabled: boolean;
  onChange: (next: VisitorAddress) => void;
}

interface StoredSettings {
  stored: VisitorAddress;
  /** The zone's. */
  ports: readonly { port: number }[];
}

/** The proxies in front of the nodes that name the visitor. */
export function VisitorAddressSection({ stored, ports, ...props }: VisitorAddressSectionProps & StoredSettings) {
  const t = useT();
  const { value, disabled, onChange } = props;
  const { proxy } = value;
  return (
    <Section title="zoneSettings.proxies" why="zoneSettings.proxiesWhy">
      <Select
        name="proxy"
        label={t('zoneSettings.fields.proxy')}
        description={proxy === 'cloudflare' ? t('zoneSettings.hints.cloudflare') : null}
        data={visitorProxies.map((one) => ({ value: one, label: t(`zoneSettings.choices.proxy.${one}`) }))}
        value={proxy}
        allowDeselect={false}
        disabled={disabled}
        onChange={(next) => {
          const chosen = visitorProxies.find((one) => one === next);
          // Without what was typed: a hidden field must not be at fault.
          if (chosen) onChange(withAllowedPorts({ ...stored, proxy: chosen }));
        }}
      />
      {proxy === 'custom' && <CustomProxy {...props} />}
      {allowsProxyProtocol(proxy) && <ProxyProtocolPorts {...props} ports={ports} />}
    </Section>
  );
}

function ProxyProtocolPorts({
  value,
  ports,
  disabled,
  onChange,
}: VisitorAddressSectionProps & Pick<StoredSettings, 'ports'>) {
  const t = useT();
  const chosen = value.proxyProtocolPorts.map(String);
  return (
    <MultiSelect
      name="proxyProtocolPorts"
      label={t('zoneSettings.fields.proxyProtocolPorts')}
      description={t('zoneSettings.hints.proxyProtocolPorts')}
      // A port may have been removed since it was chosen.
      data={[...new Set([...ports.map(({ port }) => String(port)), ...chosen])]}
      value={chosen}
      searchable
      clearable
      hidePickedOptions
      nothingFoundMessage={t('common.states.nothingMatches')}
      disabled={disabled}
      onChange={(next) => onChange({ ...value, proxyProtocolPorts: next.map(Number).sort((a, b) => a - b) })}
    />
  );
}

function CustomProxy({ value, disabled, onChange }: VisitorAddressSectionProps) {
  const t = useT();
  const [issue] = issuesOf(AddressHeader, value.header);
  return (
    <>
      <LinesSetting
        name="networks"
        label={t('zoneSettings.fields.networks')}
        hint={t('zoneSettings.hints.networks')}
        value={value.networks}
        schema={RequiredNetworks}
        judge={(line) => (TrustedNetwork.safeParse(line).success ? null : t('zoneSettings.badTrusted'))}
        twice={t('errorMessages.duplicate IP')}
        placeholder={'192.0.2.10\n2001:db8::/32'}
        disabled={disabled}
        onChange={(networks) => onChange({ ...value, networks })}
      />
      <TextInput
        name="header"
        label={t('zoneSettings.fields.header')}
        description={t('zoneSettings.hints.header')}
        value={value.header}
        error={issue && ruleText(issue.rule, issue.message, issue.values)}
        disabled={disabled}
        onChange={(event) => onChange({ ...value, header: event.currentTarget.value })}
      />
    </>
  );
}
