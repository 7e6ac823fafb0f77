import { antiCCs } from '@edgeloom/contract/site-anti-cc/site-anti-cc.endpoints.ts';
import { Button, Select } from '@mantine/core';
import { useState } from 'react';
import { Section } from '../../components/page/section.tsx';
import { time } from '../../lib/format.ts';
import { useT } from '../../lib/i18n.ts';
import { useAction } from '../../lib/use-endpoint.ts';
import { useCan } from '../../lib/use-can.ts';
import { useNow } from '../../lib/use-now.ts';
import { attackRule, isAttackRule, type AntiCCRule } from './anti-cc-drafts.ts';
import classes from './anti-cc.module.css';

const hours = [1, 6, 24] as const;
const HOUR_MS = 3_600_000;

/** One switch that challenges every visitor until a time. It is a rule, so it is published and logged as one. */
export function UnderAttack({ params, rules }: { params: { siteId: string }; rules: readonly AntiCCRule[] }) {
  const t = useT();
  const can = useCan();
  const [length, setLength] = useState<(typeof hours)[number]>(1);
  const create = useAction(antiCCs.create);
  const remove = useAction(antiCCs.remove);
  const now = new Date(useNow(true));
  const active = rules.filter((rule) => isAttackRule(rule, now));
  const last = active
    .map(({ endsAt }) => endsAt ?? '')
    .toSorted()
    .at(-1);
  const start = () => {
    const endsAt = new Date(Date.now() + length * HOUR_MS).toISOString();
    return create.run({ params, body: { items: [attackRule(rules, endsAt)] } });
  };
  return (
    <Section title="siteAntiCC.attack.title" why="siteAntiCC.attack.why">
      <div className={classes['attack']}>
        {last === undefined ? (
          <>
            <Select
              label={t('siteAntiCC.attack.length')}
              data={hours.map((hour) => ({
                value: String(hour),
                label: t('siteAntiCC.attack.hours', { count: hour }),
              }))}
              value={String(length)}
              allowDeselect={false}
              disabled={!can(antiCCs.create)}
              w={140}
              onChange={(value) => setLength(hours.find((hour) => String(hour) === value) ?? 1)}
            />
            <Button color="red" disabled={!can(antiCCs.create)} loading={create.running} onClick={() => void start()}>
              {t('siteAntiCC.attack.start')}
            </Button>
          </>
        ) : (
          <>
            <output>{t('siteAntiCC.attack.active', { time: time(last) })}</output>
            <Button
              variant="default"
              disabled={!can(antiCCs.remove)}
              loading={remove.running}
              onClick={() => void remove.run({ params, body: { ids: active.map(({ id }) => id) } })}
            >
              {t('siteAntiCC.attack.end')}
            </Button>
          </>
        )}
      </div>
    </Section>
  );
}
