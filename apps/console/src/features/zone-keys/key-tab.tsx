import { autoCertificates } from '@edgeloom/contract/certificates/certificates.endpoints.ts';
import type { Received } from '@edgeloom/contract/endpoint.ts';
import { zoneKeys } from '@edgeloom/contract/zone-keys/zone-keys.endpoints.ts';
import { Anchor, Button } from '@mantine/core';
import { useState } from 'react';
import { Link } from 'react-router-dom';
import { TextField } from '../../components/fields/text-field.tsx';
import { useOverlay } from '../../components/overlay/overlay.tsx';
import { Fact, Facts } from '../../components/page/facts.tsx';
import { Section } from '../../components/page/section.tsx';
import { ResourceForm } from '../../components/resource-form/resource-form.tsx';
import { Await } from '../../components/states/await.tsx';
import { Pill } from '../../components/status/status.tsx';
import { Time } from '../../components/values/values.tsx';
import { to } from '../../lib/family.ts';
import { count } from '../../lib/format.ts';
import { useT } from '../../lib/i18n.ts';
import { useCan } from '../../lib/use-can.ts';
import { useEndpoint } from '../../lib/use-endpoint.ts';
import classes from './zone-keys.module.css';

type Key = Received<typeof zoneKeys.get>;
type Change = NonNullable<Key['current']>;

const MOVING_MS = 1000;
const RESTING_MS = 10_000;

/** The key that encrypts the zone's secrets for its nodes, with its age and rotation. */
export function KeyTab({ zoneId }: { zoneId: string }) {
  const poll = (key: Key | undefined) => (key?.current ? MOVING_MS : RESTING_MS);
  const result = useEndpoint(zoneKeys.get, { params: { zoneId } }, { poll });
  return <Await result={result}>{(key) => <Loaded zoneId={zoneId} value={key} />}</Await>;
}

function Loaded({ zoneId, value: { since, current, next, last, tooOld } }: { zoneId: string; value: Key }) {
  const t = useT();
  const can = useCan();
  const overlay = useOverlay();
  // A rotation that only waits for nodes does not block the next one.
  const isOpen = next !== null || (current !== null && current.state !== 'retiring');
  const left = [next, current, last].find((change) => change?.cause === 'nodeLeft');
  return (
    <>
      <Section title="zoneKeys.key" why="zoneKeys.keyWhy">
        <Facts>
          <Fact term={t('zoneKeys.fields.since')}>
            <Time at={since} />
          </Fact>
          {last && (
            <Fact term={t('zoneKeys.lastChange')}>
              <Why of={last} />
            </Fact>
          )}
        </Facts>
        {can(zoneKeys.rotate) && (
          <div>
            <Button
              variant="default"
              disabled={isOpen || tooOld.length > 0}
              onClick={() => overlay(<RotateForm zoneId={zoneId} />, { title: 'zoneKeys.rotateTitle' })}
            >
              {t('zoneKeys.rotate')}
            </Button>
          </div>
        )}
        {tooOld.length > 0 && <Nodes title={t('zoneKeys.tooOld', { count: tooOld.length })} nodes={tooOld} />}
      </Section>
      {current && (
        <Section title="zoneKeys.change" why="zoneKeys.changeWhy">
          <Progress of={current} isHeldUp={tooOld.length > 0} />
          {next && <p className={classes['quiet']}>{t('zoneKeys.next')}</p>}
        </Section>
      )}
      {left && (
        <Section title="zoneKeys.known" why="zoneKeys.knownWhy">
          <p className={classes['quiet']}>{t('zoneKeys.knownMore')}</p>
          {can(autoCertificates.list) && (
            <Anchor component={Link} to={to('nodeManage/autoSSLManagement')}>
              {t('zoneKeys.renew')}
            </Anchor>
          )}
        </Section>
      )}
    </>
  );
}

function Why({ of: { cause, reason, author } }: { of: Change }) {
  const t = useT();
  if (cause === 'nodeLeft') return t('zoneKeys.nodeLeft', { name: reason });
  return [t('zoneKeys.asked', { name: author }), reason].filter(Boolean).join(' · ');
}

function Progress({ of: change, isHeldUp }: { of: Change; isHeldUp: boolean }) {
  const t = useT();
  const { state, documents, sealed, missing } = change;
  // Documents changed during the rotation are encrypted again, too.
  const total = Math.max(documents, sealed);
  return (
    <>
      <Facts>
        <Fact term={t('zoneKeys.fields.state')}>
          <Pill tone={isHeldUp ? 'warn' : 'busy'}>{t(`zoneKeys.choices.state.${state}`)}</Pill>
        </Fact>
        <Fact term={t('zoneKeys.fields.cause')}>
          <Why of={change} />
        </Fact>
        <Fact term={t('zoneKeys.fields.createdAt')}>
          <Time at={change.createdAt} />
        </Fact>
        <Fact term={t('zoneKeys.fields.documents')}>
          {t('zoneKeys.sealed', { sealed: count(sealed), total: count(total) })}
        </Fact>
      </Facts>
      {missing.length > 0 && <Nodes title={t('zoneKeys.missing', { count: missing.length })} nodes={missing} />}
    </>
  );
}

/** Number of names to list. */
const SHOWN = 20;

function Nodes({ title, nodes }: { title: string; nodes: Key['tooOld'] }) {
  const t = useT();
  const [all, setAll] = useState(false);
  const shown = all ? nodes : nodes.slice(0, SHOWN);
  return (
    <div>
      <h3 className={classes['heading']}>{title}</h3>
      <ul className={classes['nodes']}>
        {shown.map(({ id, name, connected }) => (
          <li key={id}>
            <span>{name}</span>
            {!connected && <Pill tone="off">{t('zoneKeys.away')}</Pill>}
          </li>
        ))}
      </ul>
      {shown.length < nodes.length && (
        <p className={classes['quiet']}>
          {t('zoneKeys.more', { count: nodes.length - SHOWN })}{' '}
          <Button size="compact-sm" variant="subtle" onClick={() => setAll(true)}>
            {t('common.showAll')}
          </Button>
        </p>
      )}
    </div>
  );
}

function RotateForm({ zoneId }: { zoneId: string }) {
  const t = useT();
  return (
    <ResourceForm create={zoneKeys.rotate} params={{ zoneId }} submitLabel="zoneKeys.rotate" done="zoneKeys.begun">
      <p className={classes['quiet']}>{t('zoneKeys.rotatePoint')}</p>
      <TextField name="reason" />
    </ResourceForm>
  );
}
