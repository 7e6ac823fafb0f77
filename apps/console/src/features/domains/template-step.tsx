import { Input, SegmentedControl } from '@mantine/core';
import type { Origin } from '../../components/origins/origins.ts';
import { OriginsTable } from '../../components/origins/origins-table.tsx';
import { useT } from '../../lib/i18n.ts';
import classes from './add-domains.module.css';
import { OriginProbe, type Probe } from './origin-probe.tsx';
import type { PortMap, Scheme } from './origins-draft.ts';
import { PortMapField } from './port-map-field.tsx';

const schemes = ['http', 'https', 'follow'] as const;
/** Default port map when the origin uses the visitor's protocol. */
const followed: PortMap = [
  { from: 80, to: 80 },
  { from: 443, to: 443 },
];
const usualPort = { http: 80, https: 443, follow: 443 };

export interface Template {
  origins: Origin[];
  scheme: Scheme;
  portMap: PortMap;
  /** Set until the reader selects a protocol; follows the probe's result. */
  isProtocolGuess: boolean;
  isPortGuess: boolean;
}

interface TemplateStepProps {
  siteId: string;
  value: Template;
  /** Host header of the probe: one of the new names. */
  host: string | null;
  fault: (path: string) => string | undefined;
  portMapFault: string | undefined;
  onChange: (value: Template) => void;
}

/** Origin template of the new domains, tested while typing. */
export function TemplateStep({ siteId, value, host, fault, portMapFault, onChange }: TemplateStepProps) {
  const t = useT();
  const { origins, scheme, portMap, isProtocolGuess, isPortGuess } = value;
  const [first] = origins;

  const choose = (chosen: Scheme) =>
    onChange({
      ...value,
      scheme: chosen,
      // A typed port stays; the protocol's default port changes with the protocol.
      origins: origins.map((origin) =>
        origin.port === usualPort[scheme] ? { ...origin, port: usualPort[chosen] } : origin,
      ),
      portMap: chosen === 'follow' && portMap.length === 0 ? followed : portMap,
      isProtocolGuess: false,
    });
  // HTTPS is tried first, then HTTP.
  const learn = (origin: Origin, { reachable, scheme: answered }: Probe) => {
    if (!isProtocolGuess || origin !== first) return;
    if (reachable && answered && answered !== scheme) onChange({ ...value, scheme: answered });
    if (!reachable && isPortGuess && origin.port === usualPort.https)
      onChange({ ...value, scheme: 'http', origins: [{ ...origin, port: usualPort.http }] });
  };
  return (
    <>
      <Input.Wrapper
        className={classes['protocol'] ?? ''}
        label={t('domains.origins.protocol')}
        labelElement="div"
        description={scheme === 'follow' ? t('domains.add.follow') : t('domains.add.guessed')}
      >
        <div>
          <SegmentedControl
            aria-label={t('domains.origins.protocol')}
            data={schemes.map((one) => ({ value: one, label: t(`domains.choices.scheme.${one}`) }))}
            value={scheme}
            onChange={(chosen) => choose(schemes.find((one) => one === chosen) ?? 'http')}
          />
        </div>
      </Input.Wrapper>
      {/* A port must not change while the user types in it. */}
      <div
        onFocusCapture={({ target }) => {
          if (isPortGuess && target instanceof HTMLInputElement && target.inputMode !== '')
            onChange({ ...value, isPortGuess: false });
        }}
      >
        <OriginsTable
          origins={origins}
          usualPort={scheme === 'https' ? 443 : 80}
          locked={false}
          onChange={(next) =>
            onChange({
              ...value,
              origins: next,
              isPortGuess: isPortGuess && next.length === 1 && next[0]?.port === first?.port,
            })
          }
          fault={fault}
          {...(!origins.some(({ enabled }) => enabled) && { noneOn: t('origins.noneOn') })}
        />
      </div>
      <div className={classes['probes']}>
        {origins.map((origin) => (
          <OriginProbe
            key={`${origin.key} ${origin.address} ${origin.port}`}
            siteId={siteId}
            address={origin.address}
            port={origin.port}
            host={host}
            onFound={(probe) => learn(origin, probe)}
          />
        ))}
      </div>
      {scheme === 'follow' && (
        <Input.Wrapper className={classes['protocol'] ?? ''} label={t('domains.origins.portMap')} labelElement="div">
          <PortMapField
            value={portMap}
            locked={false}
            onChange={(next) => onChange({ ...value, portMap: next })}
            error={portMap.length === 0 ? t('domains.origins.portMapNeeded') : portMapFault}
          />
        </Input.Wrapper>
      )}
    </>
  );
}
