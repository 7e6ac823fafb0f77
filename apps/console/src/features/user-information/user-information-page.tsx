import { announcements } from '@edgeloom/contract/announcements/announcements.endpoints.ts';
import { session } from '@edgeloom/contract/auth/auth.endpoints.ts';
import { charts } from '@edgeloom/contract/charts/charts.endpoints.ts';
import { licenses } from '@edgeloom/contract/licenses/licenses.endpoints.ts';
import { IconBook2 } from '@tabler/icons-react';
import { Link } from 'react-router-dom';
import { ChartPanel } from '../../components/chart/chart-panel.tsx';
import { RangeControl, useRange } from '../../components/chart/range.tsx';
import { ChoiceField } from '../../components/fields/choice-field.tsx';
import { SwitchField } from '../../components/fields/switch-field.tsx';
import { TextField } from '../../components/fields/text-field.tsx';
import { AnnouncementList } from '../../components/frame/announcement-list.tsx';
import { Fact, Facts } from '../../components/page/facts.tsx';
import { Page } from '../../components/page/page.tsx';
import { Section } from '../../components/page/section.tsx';
import { ResourceForm } from '../../components/resource-form/resource-form.tsx';
import { Await } from '../../components/states/await.tsx';
import { Status } from '../../components/status/status.tsx';
import { Copy } from '../../components/values/copy.tsx';
import { Nothing, Time } from '../../components/values/values.tsx';
import { family, to } from '../../lib/family.ts';
import { useT } from '../../lib/i18n.ts';
import { loadAccount } from '../../lib/sign-in.ts';
import { useCan } from '../../lib/use-can.ts';
import { useEndpoint } from '../../lib/use-endpoint.ts';
import type { Account } from '../../stores/session.ts';
import { OwnLicense } from '../licenses/license-facts.tsx';
import classes from './user-information.module.css';

/** The account, its announcements and its traffic. */
export function UserInformationPage() {
  const can = useCan();
  return (
    <Page title="userInformation.title" actions={can(charts.get) && <RangeControl />}>
      <Await result={useEndpoint(session.self)}>
        {(account) => (
          <>
            <AccountFacts of={account} />
            {family === 'client' && can(licenses.own) && <OwnLicense />}
            <Visits />
            {/* An administrator has no operator. */}
            {family !== 'admin' && <Messages />}
            {/* Without this wrapper the form would share the panel's height with the sections above it. */}
            <div className={classes['details']}>
              <OwnDetails of={account} />
            </div>
          </>
        )}
      </Await>
    </Page>
  );
}

function AccountFacts({ of: account }: { of: Account }) {
  const { email, status, isRoot, expiry, clientID, roleName, parentName, createdByName } = account;
  const t = useT();
  return (
    <Section title="userInformation.account" why="userInformation.accountWhy">
      <Facts>
        <Fact term={t('userInformation.fields.email')}>{email}</Fact>
        <Fact term={t('userInformation.kind')}>{t(`app.console.${family}`)}</Fact>
        <Fact term={t('userInformation.fields.grade')}>{t(isRoot ? 'frame.root' : 'frame.sub')}</Fact>
        {!isRoot && (
          <>
            <Fact term={t('userInformation.fields.roleName')}>{roleName ?? <Nothing />}</Fact>
            <Fact term={t('userInformation.fields.parentName')}>{parentName ?? <Nothing />}</Fact>
          </>
        )}
        {createdByName !== null && <Fact term={t('userInformation.fields.createdByName')}>{createdByName}</Fact>}
        <Fact term={t('userInformation.fields.googleVerification')}>
          {t(account.googleVerification ? 'common.on' : 'common.off')}
        </Fact>
        <Fact term={t('userInformation.status')}>
          <Status kind="account" value={status} />
        </Fact>
        <Fact term={t('userInformation.expiry')}>
          <Time at={expiry} />
        </Fact>
        {clientID !== null && (
          <Fact term={t('userInformation.clientID')}>
            <Copy text={clientID} />
          </Fact>
        )}
        <Fact term={t('userInformation.apiDoc')}>
          <Link to={to('userManagement/apiDoc')} className={classes['link'] ?? ''}>
            <IconBook2 size={15} stroke={1.6} aria-hidden />
            {t('userInformation.openApiDoc')}
          </Link>
        </Fact>
      </Facts>
    </Section>
  );
}

function Visits() {
  const can = useCan();
  const range = useRange();
  if (!can(charts.get)) return null;
  return (
    <div className={classes['charts']}>
      <ChartPanel metric="requests" range={range} />
      <ChartPanel metric="cache" range={range} />
    </div>
  );
}

function Messages() {
  const shown = useEndpoint(announcements.list);
  return (
    <Section title="userInformation.messages" why="userInformation.messagesWhy">
      <div className={classes['messages']}>
        <Await result={shown}>{({ data }) => <AnnouncementList of={data} />}</Await>
      </div>
    </Section>
  );
}

function OwnDetails({ of: account }: { of: Account }) {
  const can = useCan();
  if (!can(session.updateSelf)) return null;
  return (
    <ResourceForm
      update={session.updateSelf}
      value={account}
      words="userInformation"
      bar
      onDone={() => void loadAccount()}
    >
      <Section title="userInformation.person">
        <TextField name="name" />
        <TextField name="phone" />
        <TextField name="address" />
      </Section>
      <Section title="userInformation.company">
        <TextField name="companyName" />
        <TextField name="companyTaxID" />
        <TextField name="companyPhone" />
      </Section>
      <Section title="userInformation.mails" why="userInformation.mailsWhy">
        <SwitchField name="loginNotify" />
        <ChoiceField name="language" />
      </Section>
    </ResourceForm>
  );
}
