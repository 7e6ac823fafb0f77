import { FirewallLevel, riskLevels } from '@edgeloom/contract/zone-firewall/zone-firewall.ts';
import { zoneSettings } from '@edgeloom/contract/zone-settings/zone-settings.endpoints.ts';
import { upgrades } from '@edgeloom/contract/rollouts/rollouts.endpoints.ts';
import { Alert, Anchor, Radio } from '@mantine/core';
import { IconPackage } from '@tabler/icons-react';
import { Link } from 'react-router-dom';
import { to } from '../../lib/family.ts';
import { count } from '../../lib/format.ts';
import { useT } from '../../lib/i18n.ts';
import { useCan } from '../../lib/use-can.ts';
import { useEndpoint } from '../../lib/use-endpoint.ts';
import classes from './risk-level.module.css';

interface RiskLevelProps {
  zoneId: string;
  value: FirewallLevel;
  disabled: boolean;
  onChange: (level: FirewallLevel) => void;
}

/** Minimum score to block, with the effect and cost of each level. */
export function RiskLevel({ zoneId, value, disabled, onChange }: RiskLevelProps) {
  const t = useT();
  const { data } = useEndpoint(zoneSettings.firewallLevels, { params: { zoneId } }, { pollMs: 15_000 });
  const dropped = (level: FirewallLevel) => data?.levels?.find((one) => one.level === level)?.networks;
  return (
    <div className={classes['level']}>
      {data?.version === null && <NoPack newest={data.newest} />}
      <Radio.Group
        aria-label={t('zoneSettings.fields.level')}
        value={String(value)}
        onChange={(next) => onChange(FirewallLevel.parse(Number(next)))}
      >
        {([0, ...riskLevels.toReversed()] as const).map((level) => {
          const networks = dropped(level);
          return (
            <Radio
              key={level}
              value={String(level)}
              label={t(`zoneSettings.levels.${level}`)}
              description={[
                t(`zoneSettings.levelCost.${level}`),
                ...(networks === undefined ? [] : [t('zoneSettings.levelNetworks', { networks: count(networks) })]),
              ].join(' · ')}
              {...{ disabled }}
            />
          );
        })}
      </Radio.Group>
      {data && data.version !== null && (
        <p className={classes['pack']}>
          {t('zoneSettings.levelPack', {
            version: data.version,
            nodes: count(data.nodes),
            of: count(data.of),
          })}
        </p>
      )}
    </div>
  );
}

function NoPack({ newest }: { newest: string | null }) {
  const t = useT();
  const can = useCan();
  return (
    <Alert icon={<IconPackage size={18} stroke={1.5} />} color="gray" title={t('zoneSettings.levelNoPack.title')}>
      <p className={classes['pack']}>{t('zoneSettings.levelNoPack.text')}</p>
      {newest !== null && can(upgrades.latest) && (
        <p className={classes['pack']}>
          {t('zoneSettings.levelNoPack.offer', { version: newest })}{' '}
          <Anchor component={Link} to={to('systemManagement/systemUpgrade')}>
            {t('zoneSettings.levelNoPack.to')}
          </Anchor>
        </p>
      )}
    </Alert>
  );
}
