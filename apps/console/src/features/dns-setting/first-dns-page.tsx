import { dnsSetting } from '@edgeloom/contract/dns-setting/dns-setting.endpoints.ts';
import { dnsSettingForms, DnsSettingTest, DnsTested, Suffix } from '@edgeloom/contract/dns-setting/dns-setting.ts';
import { DnsProvider } from '@edgeloom/contract/dns-account/dns-account.ts';
import { Button, TextInput } from '@mantine/core';
import { useEffect, useState } from 'react';
import { Link, useNavigate, useSearchParams } from 'react-router-dom';
import { CredentialFields, ProviderSelect } from '../../components/dns-account/dns-account.tsx';
import { TextField } from '../../components/fields/text-field.tsx';
import { Page } from '../../components/page/page.tsx';
import { ResourceForm } from '../../components/resource-form/resource-form.tsx';
import { showInNextList } from '../../components/resource-table/new-rows.ts';
import { StatusMark } from '../../components/status/status-mark.tsx';
import { Steps } from '../../components/steps/steps.tsx';
import { count } from '../../lib/format.ts';
import { lacksDns, noteDnsSetup, offersDnsSetup } from '../../lib/dns-setup.ts';
import { ownPath, to } from '../../lib/family.ts';
import { useT } from '../../lib/i18n.ts';
import { loadAccount } from '../../lib/sign-in.ts';
import { useAction, useEndpoint } from '../../lib/use-endpoint.ts';
import { useSession } from '../../stores/session.ts';
import classes from './dns-setting.module.css';
import { faultWords } from '../../lib/provider-words.ts';

const PROVIDER = 0;
const CREDENTIALS = 1;
const NAMES = 2;
const DONE = 3;

/** First DNS setup, opened once after sign-in. It can be postponed. */
export function FirstDnsPage() {
  const t = useT();
  // Progress is stored in the URL, without keys.
  const [search, setSearch] = useSearchParams();
  const known = DnsProvider.safeParse(search.get('provider')).data;
  const provider = known ?? 'powerDNS';
  const [step, setStep] = useState(known ? CREDENTIALS : PROVIDER);
  const root = search.get('root') ?? '';
  const next = search.get('next');
  const keep = (chosen: DnsProvider, rootDomain = root) =>
    setSearch({ provider: chosen, ...(rootDomain && { root: rootDomain }), ...(next && { next }) }, { replace: true });
  const account = useSession((session) => session.account);
  const isLacking = lacksDns(account);
  useEffect(() => {
    if (isLacking && offersDnsSetup(account)) noteDnsSetup(account, 'offered');
  }, [isLacking, account]);
  const [tried, setTried] = useState<DnsSettingTest | null>(null);
  const [tested, setTested] = useState<DnsTested | null>(null);
  // Null: follows the root domain.
  const [suffix, setSuffix] = useState<string | null>(null);
  // Not earlier: a form with input must not be replaced.
  useEffect(() => {
    if (step === NAMES && tried && tried.rootDomain !== root) keep(provider, tried.rootDomain);
  });
  return (
    <Page
      title="dnsSetting.first.title"
      actions={
        isLacking &&
        step !== DONE && (
          <Button component={Link} to={ownPath(next)} variant="default">
            {t('dnsSetting.first.later')}
          </Button>
        )
      }
    >
      <Steps
        current={step}
        {...(step !== DONE && { onBack: setStep })}
        steps={[
          { title: 'dnsSetting.first.provider', result: t(`dnsAccount.choices.provider.${provider}`) },
          {
            title: 'dnsSetting.first.credentials',
            result: tested && `${tried?.rootDomain} · ${t('dnsSetting.first.records', { count: tested.records })}`,
          },
          { title: 'dnsSetting.first.names', result: suffixOf(suffix, tried) },
          { title: 'dnsSetting.first.done' },
        ]}
      >
        {step === PROVIDER && (
          <div className={classes['step']}>
            <p>{t('dnsSetting.first.why')}</p>
            {isLacking && <p className={classes['aside']}>{t('dnsSetting.first.laterWhy')}</p>}
            <ProviderSelect
              provider={provider}
              onChange={(next) => {
                keep(next);
                setTried(null);
              }}
            />
            <div className={classes['buttons']}>
              <Button
                onClick={() => {
                  keep(provider);
                  setStep(CREDENTIALS);
                }}
              >
                {t('common.next')}
              </Button>
            </div>
          </div>
        )}
        {step === CREDENTIALS && (
          <div className={classes['form']}>
            <ResourceForm
              key={provider}
              create={dnsSetting.test}
              words="dnsAccount"
              schema={dnsSettingForms[provider]}
              initial={{ rootDomain: root, ...tried?.credentials }}
              wrap={({ rootDomain, ...credentials }) => {
                const body = { dnsType: provider, credentials, rootDomain };
                setTried(DnsSettingTest.safeParse(body).data ?? null);
                return body;
              }}
              onDone={(reply) => {
                setTested(DnsTested.parse(reply));
                setStep(NAMES);
              }}
              submitLabel="dnsSetting.first.test"
              done="dnsSetting.first.tested"
            >
              <CredentialFields />
              <TextField name="rootDomain" placeholder="example.net" />
            </ResourceForm>
          </div>
        )}
        {step === NAMES && tried && (
          <Names account={tried} suffix={suffixOf(suffix, tried)} onChange={setSuffix} onDone={() => setStep(DONE)} />
        )}
        {step === DONE && <Done />}
      </Steps>
    </Page>
  );
}

const suffixOf = (typed: string | null, account: DnsSettingTest | null) => typed ?? `cdn.${account?.rootDomain ?? ''}`;

interface NamesProps {
  account: DnsSettingTest;
  suffix: string;
  onChange: (suffix: string) => void;
  onDone: () => void;
}
function Names({ account, suffix, onChange, onDone }: NamesProps) {
  const t = useT();
  const { run, running } = useAction(dnsSetting.create, { done: 'dnsSetting.first.created', refreshes: ['cnames'] });
  const isWithin = suffix === account.rootDomain || suffix.endsWith(`.${account.rootDomain}`);
  const isGood = isWithin && Suffix.safeParse(suffix).success;
  const create = async () => {
    if (isGood && !running && (await run({ body: { ...account, cname: suffix } }))) onDone();
  };
  const examples = [
    {
      name: `a1b2c3d4e5f6.${suffix}`,
      type: 'CNAME',
      value: `g-0123456789.${suffix}`,
      why: t('dnsSetting.first.ofSite'),
    },
    {
      name: `g-0123456789.${suffix}`,
      type: 'A, AAAA',
      value: t('dnsSetting.first.addresses'),
      why: t('dnsSetting.first.ofGroup'),
    },
  ];
  return (
    <form
      className={classes['step']}
      onSubmit={(event) => {
        event.preventDefault();
        void create();
      }}
    >
      <TextInput
        label={t('dnsSetting.first.suffix')}
        description={t('dnsSetting.first.suffixWhy')}
        value={suffix}
        onChange={({ currentTarget }) => onChange(currentTarget.value.trim().toLowerCase())}
        error={!isGood && t('dnsSetting.first.outside', { root: account.rootDomain })}
      />
      <table className={classes['records']}>
        <caption className="hidden-text">{t('dnsSetting.first.preview')}</caption>
        <thead>
          <tr>
            <th scope="col">{t('dnsSetting.first.record')}</th>
            <th scope="col">{t('dnsSetting.first.type')}</th>
            <th scope="col">{t('dnsSetting.first.value')}</th>
          </tr>
        </thead>
        <tbody>
          {examples.map(({ name, type, value, why }) => (
            <tr key={name}>
              <td>
                {name}
                <br />
                <small>{why}</small>
              </td>
              <td>{type}</td>
              <td>{value}</td>
            </tr>
          ))}
        </tbody>
      </table>
      <div className={classes['buttons']}>
        <Button type="submit" loading={running} disabled={!isGood}>
          {t('dnsSetting.first.create')}
        </Button>
      </div>
    </form>
  );
}

/** Polls until the reconciler has processed the new account. */
function Done() {
  const t = useT();
  const navigate = useNavigate();
  const [first] = useEndpoint(dnsSetting.list, {}, { pollMs: 2000 }).data?.data ?? [];
  const isReached = first !== undefined && first.listedAt !== null && first.fault === null;
  const leave = async (page: string) => {
    await loadAccount();
    await navigate(to(page));
  };
  const showAccount = () => {
    if (first) showInNextList({ feature: dnsSetting.list.feature, ids: [first.id], name: first.rootDomain });
    return leave('systemManagement/dnsSetting');
  };
  return (
    <div className={classes['step']} aria-live="polite">
      <p className={classes['check']}>
        <StatusMark tone={isReached ? 'ok' : first?.fault ? 'warn' : 'busy'} />
        {isReached
          ? t('dnsSetting.first.reached', { names: count(first.names) })
          : first?.fault
            ? faultWords(first.fault)
            : t('dnsSetting.first.checking')}
      </p>
      <div className={classes['buttons']}>
        {first && (
          <Button variant="default" onClick={() => void showAccount()}>
            {t('dnsSetting.first.account')}
          </Button>
        )}
        <Button onClick={() => void leave('dashboard')}>{t('dnsSetting.first.dashboard')}</Button>
      </div>
    </div>
  );
}
