import { licenses, operatorLicenses } from '@edgeloom/contract/licenses/licenses.endpoints.ts';
import { Licensed } from '@edgeloom/contract/licenses/licenses.ts';
import type { Received } from '@edgeloom/contract/endpoint.ts';
import { Fact, Facts } from '../../components/page/facts.tsx';
import { Section } from '../../components/page/section.tsx';
import { Await } from '../../components/states/await.tsx';
import { Time } from '../../components/values/values.tsx';
import { count } from '../../lib/format.ts';
import { useT } from '../../lib/i18n.ts';
import { useEndpoint, type Result } from '../../lib/use-endpoint.ts';

/** The limits and usage of the reader, an operator. */
export function OwnLicense() {
  return (
    <Section title="licenses.title" why="licenses.why">
      <LicenseFacts license={useEndpoint(licenses.own)} />
    </Section>
  );
}

/** The limits and usage of an operator, for admins. */
export function OperatorLicense({ accountID }: { accountID: string }) {
  return (
    <Section title="licenses.title" why="licenses.whyOfOperator">
      <LicenseFacts license={useEndpoint(operatorLicenses.get, { params: { userId: accountID } })} />
    </Section>
  );
}

/** A process of the former release sends no name and no monitorSeconds. */
function LicenseFacts({ license }: { license: Result<Received<typeof licenses.own>> }) {
  const t = useT();
  return (
    <Await result={license}>
      {({ name, limits, uses, layer4, monitorSeconds, endsAt }) => (
        <Facts>
          {name != null && <Fact term={t('licenses.name')}>{name}</Fact>}
          {Licensed.options.map((thing) => (
            <Fact key={thing} term={t(`licenses.${thing}`)}>
              {limits[thing] === 0
                ? t('licenses.unlimited', { count: count(uses[thing]) })
                : t('licenses.ofLimit', { count: count(uses[thing]), limit: count(limits[thing]) })}
            </Fact>
          ))}
          <Fact term={t('licenses.layer4')}>{t(layer4 ? 'licenses.allowed' : 'licenses.notAllowed')}</Fact>
          <Fact term={t('licenses.monitorSeconds')}>
            {monitorSeconds > 0 ? t('licenses.seconds', { seconds: count(monitorSeconds) }) : t('licenses.anyInterval')}
          </Fact>
          <Fact term={t('licenses.endsAt')}>{endsAt === null ? t('licenses.never') : <Time at={endsAt} />}</Fact>
        </Facts>
      )}
    </Await>
  );
}
