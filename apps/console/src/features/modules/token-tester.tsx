import type { Received } from '@edgeloom/contract/endpoint.ts';
import { tokenAuths } from '@edgeloom/contract/modules/modules.endpoints.ts';
import { Button, NumberInput, Select, Textarea, TextInput } from '@mantine/core';
import { useState, type FormEvent } from 'react';
import { Pill } from '../../components/status/status.tsx';
import { CodeBox } from '../../components/values/code-box.tsx';
import { Section } from '../../components/page/section.tsx';
import { duration, time } from '../../lib/format.ts';
import { useLanguage, useT } from '../../lib/i18n.ts';
import { useCan } from '../../lib/use-can.ts';
import { useAction } from '../../lib/use-endpoint.ts';
import classes from './modules.module.css';
import { exampleOf, type StoredEntry, type TokenAuth } from './token-form.ts';

interface TesterProps {
  siteId: string;
  module: TokenAuth;
}

/** Signs URLs, and explains why a URL is rejected. */
export function TokenTester({ siteId, module }: TesterProps) {
  const can = useCan();
  const [url, setUrl] = useState('');
  return (
    <div className={classes['form']}>
      {can(tokenAuths.sign) && (
        <Section title="tokenAuths.tester.sign" why="tokenAuths.tester.signWhy">
          <Signer siteId={siteId} module={module} onSigned={setUrl} />
        </Section>
      )}
      <Section title="tokenAuths.tester.judge" why="tokenAuths.tester.judgeWhy">
        <Judge siteId={siteId} module={module} url={url} onUrl={setUrl} />
      </Section>
    </div>
  );
}

const submitting = (send: () => Promise<void>) => (event: FormEvent) => {
  event.preventDefault();
  void send();
};
const plain = (input: string) => ({ classNames: { input }, spellCheck: false, autoCapitalize: 'off' });

/** Timestamp in the token. */
const momentOf = ({ timeMeans, validSeconds }: StoredEntry, minutesAgo: number) =>
  new Date(Date.now() - minutesAgo * 60_000 + (timeMeans === 'expires' ? validSeconds * 1000 : 0)).toISOString();

function Signer({ siteId, module, onSigned }: TesterProps & { onSigned: (url: string) => void }) {
  const t = useT();
  const entries = module.auths;
  const [authID, setAuthID] = useState(entries[0]?.id ?? '');
  const [key, setKey] = useState(0);
  const [url, setUrl] = useState('https://');
  const [minutes, setMinutes] = useState(0);
  const [address, setAddress] = useState('');
  const [made, setMade] = useState<Received<typeof tokenAuths.sign> | null>(null);
  const { run, running } = useAction(tokenAuths.sign, { refreshes: [] });
  const entry = entries.find(({ id }) => id === authID);
  const mono = plain(classes['mono'] ?? '');
  if (!entry) return null;
  const send = async () => {
    const body = {
      authID,
      url,
      keyID: entry.keys[key]?.id ?? entry.keys[0]?.id,
      time: momentOf(entry, minutes),
      ...(address !== '' && { address }),
    };
    const reply = await run({ params: { siteId, moduleId: module.id }, body });
    setMade(reply);
    if (reply) onSigned(reply.url);
  };
  return (
    <form className={classes['form']} onSubmit={submitting(send)}>
      <Select
        label={t('tokenAuths.tester.entry')}
        data={entries.map((one, i) => ({ value: one.id, label: `${i + 1}. ${one.name || exampleOf(one)}` }))}
        value={authID}
        allowDeselect={false}
        onChange={(next) => setAuthID(next ?? authID)}
      />
      <TextInput
        {...mono}
        label={t('tokenAuths.tester.url')}
        placeholder="https://www.example.com/film.mp4"
        value={url}
        onChange={({ currentTarget }) => setUrl(currentTarget.value)}
      />
      <div className={classes['pair']}>
        {entry.keys.length > 1 && (
          <Select
            label={t('tokenAuths.tester.key')}
            data={entry.keys.map((_, i) => ({
              value: String(i),
              label: t(`tokenAuths.keys.${i === 0 ? 'primary' : 'secondary'}`),
            }))}
            value={String(key)}
            allowDeselect={false}
            onChange={(next) => setKey(Number(next))}
          />
        )}
        <NumberInput
          label={t('tokenAuths.tester.minutes')}
          value={minutes}
          allowDecimal={false}
          onChange={(next) => setMinutes(Number(next))}
        />
        {entry.text.includes('{address}') && (
          <TextInput
            {...mono}
            label={t('tokenAuths.tester.address')}
            value={address}
            onChange={({ currentTarget }) => setAddress(currentTarget.value)}
          />
        )}
      </div>
      <div>
        <Button type="submit" loading={running} disabled={url.length < 10}>
          {t('tokenAuths.tester.signNow')}
        </Button>
      </div>
      {made && (
        <output className={classes['form']}>
          <CodeBox text={made.url} name={t('tokenAuths.tester.url')} />
          {made.headers.map(({ name, value }) => (
            <CodeBox key={name} text={`${name}: ${value}`} name={name} />
          ))}
          <dl className={classes['facts']}>
            <dt>{t('tokenAuths.tester.text')}</dt>
            <dd className={classes['mono']}>{made.text}</dd>
            <dt>{t('tokenAuths.tester.until')}</dt>
            <dd>{time(made.expiresAt)}</dd>
          </dl>
        </output>
      )}
    </form>
  );
}

function Judge({ siteId, module, url, onUrl }: TesterProps & { url: string; onUrl: (url: string) => void }) {
  const t = useT();
  const [address, setAddress] = useState('');
  const [lines, setLines] = useState('');
  const [verdict, setVerdict] = useState<Received<typeof tokenAuths.judge> | null>(null);
  const { run, running } = useAction(tokenAuths.judge, { refreshes: [] });
  const mono = plain(classes['mono'] ?? '');
  const byFields = module.auths.some(({ place }) => place === 'header' || place === 'cookie');
  const byAddress = module.auths.some(({ text }) => text.includes('{address}'));
  const send = async () => {
    const headers = lines.split('\n').flatMap((line) => {
      const at = line.indexOf(':');
      return at < 1 ? [] : [{ name: line.slice(0, at).trim(), value: line.slice(at + 1).trim() }];
    });
    const body = { url, headers, ...(address !== '' && { address }) };
    setVerdict(await run({ params: { siteId, moduleId: module.id }, body }));
  };
  return (
    <form className={classes['form']} onSubmit={submitting(send)}>
      <Textarea
        {...mono}
        label={t('tokenAuths.tester.asked')}
        autosize
        minRows={2}
        value={url}
        onChange={({ currentTarget }) => {
          onUrl(currentTarget.value.replaceAll('\n', ''));
          setVerdict(null);
        }}
      />
      {byFields && (
        <Textarea
          {...mono}
          label={t('tokenAuths.tester.headers')}
          placeholder="Cookie: pass=…"
          autosize
          minRows={2}
          value={lines}
          onChange={({ currentTarget }) => setLines(currentTarget.value)}
        />
      )}
      {byAddress && (
        <TextInput
          {...mono}
          label={t('tokenAuths.tester.address')}
          value={address}
          onChange={({ currentTarget }) => setAddress(currentTarget.value)}
        />
      )}
      <div>
        <Button type="submit" variant="default" loading={running} disabled={url.length < 10}>
          {t('tokenAuths.tester.judgeNow')}
        </Button>
      </div>
      {verdict && <Verdict module={module} verdict={verdict} />}
    </form>
  );
}

function Verdict({ module, verdict }: { module: TokenAuth; verdict: Received<typeof tokenAuths.judge> }) {
  const t = useT();
  const language = useLanguage();
  const { reason, authID, seconds, keyID, hint, parts, name } = verdict;
  const place = module.auths.findIndex(({ id }) => id === authID);
  const entry = module.auths[place];
  const key = entry?.keys.findIndex(({ id }) => id === keyID) === 1 ? 'secondary' : 'primary';
  const isLetIn = reason === 'good' || reason === 'free';
  return (
    <output className={classes['verdict']}>
      <Pill tone={isLetIn ? 'ok' : 'bad'}>{t(isLetIn ? 'tokenAuths.tester.letIn' : 'tokenAuths.tester.refused')}</Pill>
      <span>
        {t(`tokenAuths.tester.reasons.${reason}`, {
          time: duration(seconds ?? 0, language),
          place: parts.join('  '),
          key: t(`tokenAuths.keys.${key}`),
        })}
      </span>
      {hint !== null && <span>{t(`tokenAuths.tester.hints.${hint}`)}</span>}
      {entry && (
        <span className={classes['hint']}>{t('tokenAuths.tester.by', { entry: `${place + 1}. ${name}`.trim() })}</span>
      )}
    </output>
  );
}
