import { domains } from '@edgeloom/contract/domains/domains.endpoints.ts';
import { SimpleDomainsInput } from '@edgeloom/contract/domains/domains.ts';
import { Button, Input, NumberInput, SegmentedControl, Textarea, TextInput } from '@mantine/core';
import { useRef, useState } from 'react';
import type { SiteInfo } from '../../components/frame/site-scope.ts';
import { useInsideOverlay } from '../../components/overlay/overlay.tsx';
import { StatusMark } from '../../components/status/status-mark.tsx';
import { fieldErrorsOf, multipleOf, ruleText, toastError } from '../../lib/errors.ts';
import { useT } from '../../lib/i18n.ts';
import { issuesOf } from '../../lib/schema.ts';
import { useAction } from '../../lib/use-endpoint.ts';
import { toast } from '../../stores/toasts.ts';
import { CnameResults } from './cname-results.tsx';
import classes from './domains.module.css';
import { cleanNames, isGood, judgeName, verdictWord } from './names.ts';
import type { PortMap, Scheme } from './origins-draft.ts';
import { PortMapField } from './port-map-field.tsx';

const schemes = ['http', 'https', 'follow'] as const;
/** Verdicts that are shown at once; what is wrong comes first. */
const SHOWN = 12;
/** What a visitor's port is answered from when the origin follows the visitor's protocol. */
const followed: PortMap = [
  { from: 80, to: 80 },
  { from: 443, to: 443 },
];

/** Many names, one origin: each line is judged while it is typed, and what the server refuses stays in the box. */
export function AddDomains({ site: { id: siteId, cname } }: { site: Pick<SiteInfo, 'id' | 'cname'> }) {
  const t = useT();
  const overlay = useInsideOverlay();
  const box = useRef<HTMLTextAreaElement>(null);
  const [text, setText] = useState('');
  const [refused, setRefused] = useState<ReadonlyMap<string, string>>(new Map());
  const [scheme, setScheme] = useState<Scheme>('http');
  const [address, setAddress] = useState('');
  const [port, setPort] = useState(80);
  const [portMap, setPortMap] = useState<PortMap>([]);
  const [tried, setTried] = useState(false);
  const [faults, setFaults] = useState<ReadonlyMap<string, string>>(new Map());
  const [added, setAdded] = useState<readonly { id: string; name: string }[] | null>(null);
  const { run, running } = useAction(domains.createSimple, { refreshes: ['sites'], quiet: true });

  const names = cleanNames(text);
  const judged = names.map((name) => ({ name, verdict: judgeName(name), refusal: refused.get(name) }));
  const bad = judged.filter(({ verdict, refusal }) => refusal !== undefined || !isGood(verdict));
  const body = {
    names,
    scheme,
    portMap: scheme === 'follow' ? portMap : [],
    upstreams: [{ address: address.trim(), port }],
  };
  const issues = new Map(issuesOf(SimpleDomainsInput, body).map((issue) => [issue.path, issue]));
  const fault = (path: string) => {
    const issue = issues.get(path);
    return (
      faults.get(path) ??
      (tried && issue
        ? ruleText(
            path.endsWith('address') && address.trim() === '' ? 'required' : issue.rule,
            issue.message,
            issue.values,
          )
        : undefined)
    );
  };
  const touch = () => overlay?.setDirty(true);

  const submit = async () => {
    setTried(true);
    if (bad.length > 0 || names.length === 0) return box.current?.focus();
    if (issues.size > 0 || (scheme === 'follow' && portMap.length === 0)) return;
    try {
      const made = await run({ params: { siteId }, body });
      toast({ text: t('domains.add.done', { count: names.length }) });
      overlay?.setDirty(false);
      setAdded(names.map((name, i) => ({ id: made?.ids[i] ?? '', name })));
    } catch (error) {
      const lines = multipleOf(error);
      const placed = fieldErrorsOf(error).filter(({ path }) => path.startsWith('upstreams.') || path === 'portMap');
      setRefused(
        new Map(lines.flatMap(({ targets, text: why }) => targets.map((target): [string, string] => [target, why]))),
      );
      setFaults(new Map(placed.map(({ path, rule, message }) => [path, ruleText(rule, message)])));
      if (lines.length > 0) box.current?.focus();
      else if (placed.length === 0) toastError(error);
    }
  };
  // What is left to do is the customer's: the names are to point here.
  if (added)
    return (
      <>
        <CnameResults siteId={siteId} cname={cname} rows={added} />
        <div className={classes['addButtons']}>
          <Button onClick={() => overlay?.close()}>{t('common.close')}</Button>
        </div>
      </>
    );
  return (
    <form
      className={classes['addForm']}
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        void submit();
      }}
    >
      <div className={classes['addFields']}>
        <div>
          <Textarea
            ref={box}
            label={t('domains.fields.names')}
            description={t('domains.hints.names')}
            placeholder={'www.example.com\n*.example.com'}
            aria-describedby="name-verdicts"
            autosize
            minRows={4}
            maxRows={14}
            spellCheck={false}
            autoCapitalize="off"
            data-autofocus
            value={text}
            error={bad.length > 0 || (tried && names.length === 0 && ruleText('required', ''))}
            onChange={(event) => {
              setText(event.currentTarget.value);
              touch();
            }}
            // A pasted list is cleaned when the box is left, not under the hands.
            onBlur={() => setText((given) => (given.trim() === '' ? '' : cleanNames(given).join('\n')))}
          />
          <div id="name-verdicts">
            {refused.size > 0 && bad.some(({ refusal }) => refusal) && (
              <div className={classes['refused']} role="alert">
                {t('domains.add.refused', { count: bad.filter(({ refusal }) => refusal).length })}{' '}
                <Button
                  size="xs"
                  variant="default"
                  onClick={() =>
                    setText(
                      judged
                        .filter(({ refusal }) => !refusal)
                        .map(({ name }) => name)
                        .join('\n'),
                    )
                  }
                >
                  {t('domains.add.dropRefused')}
                </Button>
              </div>
            )}
            {judged.length > 0 && (
              <ul className={classes['verdicts']}>
                {/* What is wrong comes first: a list of 200 names is not read to its end. */}
                {[...bad, ...judged.filter((line) => !bad.includes(line))]
                  .slice(0, SHOWN)
                  .map(({ name, verdict, refusal }) => (
                    <li key={name}>
                      <StatusMark tone={refusal || !isGood(verdict) ? 'bad' : 'ok'} />
                      <span className={classes['verdictName']}>{name}</span>
                      <span className={classes['verdict']} data-bad={refusal || !isGood(verdict) ? true : undefined}>
                        {refusal ?? t(verdictWord[verdict])}
                      </span>
                    </li>
                  ))}
              </ul>
            )}
          </div>
        </div>
        <Input.Wrapper
          label={t('domains.origins.protocol')}
          labelElement="div"
          description={scheme === 'follow' ? t('domains.add.follow') : undefined}
        >
          <div>
            <SegmentedControl
              aria-label={t('domains.origins.protocol')}
              data={schemes.map((value) => ({ value, label: t(`domains.choices.scheme.${value}`) }))}
              value={scheme}
              onChange={(value) => {
                const chosen = schemes.find((one) => one === value) ?? 'http';
                setScheme(chosen);
                // A port that was typed stays; one that belonged to the protocol goes with it.
                if (port === 80 || port === 443) setPort(chosen === 'https' ? 443 : 80);
                if (chosen === 'follow' && portMap.length === 0) setPortMap(followed);
              }}
            />
          </div>
        </Input.Wrapper>
        <div className={classes['originPair']}>
          <TextInput
            label={t('domains.add.address')}
            placeholder="203.0.113.24"
            value={address}
            error={fault('upstreams.0.address')}
            spellCheck={false}
            autoCapitalize="off"
            onChange={(event) => {
              setAddress(event.currentTarget.value);
              setFaults(new Map());
              touch();
            }}
          />
          <NumberInput
            label={t('domains.fields.port')}
            value={port}
            min={1}
            max={65_535}
            hideControls
            allowDecimal={false}
            clampBehavior="none"
            error={fault('upstreams.0.port')}
            onChange={(value) => setPort(Number(value))}
          />
        </div>
        {scheme === 'follow' && (
          <Input.Wrapper label={t('domains.origins.portMap')} labelElement="div">
            <PortMapField
              value={portMap}
              locked={false}
              onChange={setPortMap}
              {...(portMap.length === 0
                ? { error: t('domains.origins.portMapNeeded') }
                : faults.has('portMap') && { error: faults.get('portMap') })}
            />
          </Input.Wrapper>
        )}
      </div>
      <div className={classes['addButtons']}>
        {overlay && (
          <Button variant="default" onClick={overlay.close}>
            {t('common.cancel')}
          </Button>
        )}
        <Button type="submit" loading={running}>
          {names.length === 0 ? t('domains.create') : t('domains.add.submit', { count: names.length })}
        </Button>
      </div>
    </form>
  );
}
