import { licenses } from '@edgeloom/contract/licenses/licenses.endpoints.ts';
import { Licensed } from '@edgeloom/contract/licenses/licenses.ts';
import { Fact, Facts } from '../../components/page/facts.tsx';
import { Section } from '../../components/page/section.tsx';
import { Await } from '../../components/states/await.tsx';
import { Time } from '../../components/values/values.tsx';
import { family } from '../../lib/family.ts';
import { count } from '../../lib/format.ts';
import { useT } from '../../lib/i18n.ts';
import { useCan } from '../../lib/use-can.ts';
import { useEndpoint } from '../../lib/use-endpoint.ts';

/** The operator's licence limits and usage. */
export function LicenseFacts() {
  const can = useCan();
  return family === 'client' && can(licenses.own) ? <Shown /> : null;
}

function Shown() {
  const t = useT();
  return (
    <Section title="licenses.title" why="licenses.why">
      <Await result={useEndpoint(licenses.own)}>
        {({ limits, uses, layer4, endsAt }) => (
          <Facts>
            {Licensed.options.map((thing) => (
              <Fact key={thing} term={t(`licenses.${thing}`)}>
                {limits[thing] === 0
                  ? t('licenses.unlimited', { count: count(uses[thing]) })
                  : t('licenses.ofLimit', { count: count(uses[thing]), limit: count(limits[thing]) })}
              </Fact>
            ))}
            <Fact term={t('licenses.layer4')}>{t(layer4 ? 'licenses.allowed' : 'licenses.notAllowed')}</Fact>
            <Fact term={t('licenses.endsAt')}>{endsAt === null ? t('licenses.never') : <Time at={endsAt} />}</Fact>
          </Facts>
        )}
      </Await>
    </Section>
  );
}
