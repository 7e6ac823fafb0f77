import { zoneSettings } from '@edgeloom/contract/zone-settings/zone-settings.endpoints.ts';
import { Button } from '@mantine/core';
import { IconHistory } from '@tabler/icons-react';
import { useEffect } from 'react';
import { VersionPair, type Sides } from '../../components/differences/version-pair.tsx';
import { Await } from '../../components/states/await.tsx';
import { useT } from '../../lib/i18n.ts';
import { useEndpoint } from '../../lib/use-endpoint.ts';
import { Differences, Words } from './change-preview';
import classes from './zone-settings.module.css';

interface ZoneComparisonProps extends Sides {
  zoneId: string;
  choose: (sides: Sides | null) => void;
}

/** Compares two versions of a zone: as text, in snippets and in nginx's files. */
export function ZoneComparison({ zoneId, from, to, choose }: ZoneComparisonProps) {
  const t = useT();
  const found = useEndpoint(zoneSettings.compare, { params: { zoneId, version: to }, query: { against: from } });
  useEffect(() => document.querySelector<HTMLElement>('[data-comparison]')?.focus({ preventScroll: true }), []);
  const nameOf = (version: number) => t('versions.atVersion', { version });
  return (
    <section className={classes['review']} aria-label={t('versions.difference')} tabIndex={-1} data-comparison>
      <div className={classes['pair']}>
        <VersionPair from={from} to={to} meta={zoneSettings.metaVersions} params={{ zoneId }} choose={choose} />
        <Button
          variant="default"
          leftSection={<IconHistory size={15} stroke={1.6} />}
          onClick={() => {
            choose(null);
            document.querySelector<HTMLElement>('main h1')?.focus({ preventScroll: true });
          }}
        >
          {t('versions.back')}
        </Button>
      </div>
      <Await result={found}>
        {(difference) => (
          <div className={classes['columns']}>
            <Differences
              of={difference}
              labels={(name) => [
                `${name}${t('common.comma')}${nameOf(from)}`,
                `${name}${t('common.comma')}${nameOf(to)}`,
              ]}
            />
            <aside className={classes['aside']}>
              <Words changes={difference.changes} none={t('versions.same')} />
            </aside>
          </div>
        )}
      </Await>
    </section>
  );
}
