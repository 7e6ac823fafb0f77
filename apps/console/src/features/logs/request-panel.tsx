import { logs } from '@edgeloom/contract/logs/logs.endpoints.ts';
import { ApiError } from '@edgeloom/contract/client.ts';
import { ActionIcon } from '@mantine/core';
import { useClipboard } from '@mantine/hooks';
import {
  IconCheck,
  IconFileUnknown,
  IconFilterMinus,
  IconFilterPlus,
  IconLink,
  IconTerminal2,
  IconX,
  type Icon,
} from '@tabler/icons-react';
import type { ComponentProps, ReactNode } from 'react';
import { Link } from 'react-router-dom';
import { EmptyState } from '../../components/states/states.tsx';
import { Await } from '../../components/states/await.tsx';
import { Pill } from '../../components/status/status.tsx';
import { CopyIcon } from '../../components/values/copy.tsx';
import { Nothing, Time } from '../../components/values/values.tsx';
import { causeName } from '../../lib/cause-name.ts';
import { countryName } from '../../lib/countries.ts';
import { bytes, took } from '../../lib/format.ts';
import { family, to } from '../../lib/family.ts';
import { tMaybe, useT } from '../../lib/i18n.ts';
import { domainAddress, siteAddress } from '../../lib/site-address.ts';
import { useEndpoint } from '../../lib/use-endpoint.ts';
import { ExceptionButton } from '../waf/exception-button.tsx';
import { useRuleName } from '../waf/use-rule-name.ts';
import { curlOf, hostAndPort } from './curl.ts';
import { DecisionTrail } from './decision-trail.tsx';
import { inWords } from './filters.ts';
import { ProtectMenu } from './protect-menu.tsx';
import { decisionOf, toneOfStatus, viewOfCause, wafRuleID, type LogRow } from './log-row.ts';
import type { FilterKey } from './log-state.ts';
import { requestID } from './read-search.ts';
import { VisitorText } from './visitor-text.tsx';
import { WafExplanation } from './waf-explanation.tsx';
import classes from './logs.module.css';

interface RequestPanelProps {
  id: string;
  /** The request's row. Undefined if the list does not contain the request. */
  row: LogRow | undefined;
  onFilter: (key: FilterKey, isNot: boolean, value: string) => void;
  /** Absent in a drawer, which has its own button. */
  onClose?: () => void;
}

/** The API takes no longer value. A part of a text matches the text. */
const MAX_VALUE = 512;
const NOT_FOUND = 404;
const isNotFound = (error: Error | null) => error instanceof ApiError && error.status === NOT_FOUND;

/** One request. Its decision trail is loaded by its ID, and so is a request that is not in the list. */
export function RequestPanel({ id, row, onFilter, onClose }: RequestPanelProps) {
  const t = useT();
  const result = useEndpoint(logs.request, { params: { reqID: id } }, { enabled: requestID.test(id) });
  const close = onClose && (
    <ActionIcon aria-label={t('common.close')} onClick={onClose}>
      <IconX size={16} stroke={1.6} />
    </ActionIcon>
  );
  // The previous request is not shown under another ID.
  const isOther = result.data?.id !== id;
  const detail = isOther ? undefined : result.data;
  if (row) return <Request row={row} detail={detail} onFilter={onFilter} close={close} />;
  const isMissing = !requestID.test(id) || isNotFound(result.error);
  return isMissing || detail === undefined ? (
    <>
      <PanelHead title={t('logs.request')}>{close}</PanelHead>
      {isMissing ? (
        <EmptyState icon={IconFileUnknown} title={t('logs.missing')} text={t('logs.missingWhy')} />
      ) : (
        <Await result={{ ...result, data: undefined }}>{() => null}</Await>
      )}
    </>
  ) : (
    <Request row={detail} detail={detail} onFilter={onFilter} close={close} />
  );
}

function PanelHead({ title, children }: { title: ReactNode; children?: ReactNode }) {
  return (
    <header className={classes['panelHead']}>
      <h2>{title}</h2>
      <span className={classes['panelTools']}>{children}</span>
    </header>
  );
}

interface RequestProps {
  row: LogRow;
  detail: ComponentProps<typeof DecisionTrail>['request'];
  onFilter: RequestPanelProps['onFilter'];
  close: ReactNode;
}

function Request({ row, detail, onFilter, close }: RequestProps) {
  const t = useT();
  const filterBy = (key: FilterKey, value: string) => <FilterBy of={key} value={value} onFilter={onFilter} />;
  const site = row.siteID === null ? null : { id: row.siteID, name: row.siteName };
  const url = `${row.scheme}://${hostAndPort(row)}${row.uri}`;
  return (
    <>
      <PanelHead
        title={
          <>
            <Pill tone={toneOfStatus(row.status)}>{row.status}</Pill>
            <span className={classes['panelTitle']}>
              <VisitorText text={`${row.method} ${row.uri}`} />
            </span>
          </>
        }
      >
        <ProtectMenu row={row} />
        <CopyAction icon={IconTerminal2} label={t('logs.copyCurl')} text={() => curlOf(row)} />
        <CopyAction icon={IconLink} label={t('logs.copyLink')} text={() => linkTo(row.id)} />
        {close}
      </PanelHead>
      <div className={classes['panelBody']}>
        <dl className={classes['facts']}>
          <Fact term={t('logs.fields.reqID')} copy={row.id}>
            {row.id}
          </Fact>
          <Fact term={t('logs.fields.time')}>
            <Time at={row.time} milliseconds />
          </Fact>
          <Fact term={t('logs.visitor')} copy={row.address} tools={filterBy('remoteIP', row.address)}>
            {row.address}
          </Fact>
          {row.country !== '' && (
            <Fact term={t('logs.fields.country')} tools={filterBy('country', row.country)}>
              {countryName(row.country)}
            </Fact>
          )}
          {family === 'client' && (
            <Fact term={t('logs.fields.nodeIDs')} tools={filterBy('nodeIDs', row.nodeID)}>
              {row.nodeName === '' ? (
                <Nothing />
              ) : (
                <Link to={to(`nodeManage/nodesList/${row.nodeID}`)}>{row.nodeName}</Link>
              )}
            </Fact>
          )}
          {site && (
            <Fact
              term={t('logs.fields.siteIDs')}
              tools={<FilterBy of="siteIDs" value={site.id} onFilter={onFilter} name={site.name} />}
            >
              <Link to={siteAddress(site)}>{site.name}</Link>
            </Fact>
          )}
          {site && (
            <Fact
              term={t('logs.fields.domains')}
              {...(row.domain !== '' && { tools: filterBy('domains', row.domain) })}
            >
              {row.domain === '' ? (
                t('logs.removedDomain')
              ) : (
                <Link to={domainAddress(site, row.domain)}>{row.domain}</Link>
              )}
            </Fact>
          )}
        </dl>
        <DecisionTrail request={detail} />
        <DecisionBox row={row} onFilter={onFilter} />
        {detail?.waf && <WafExplanation waf={detail.waf} />}
        {site && row.domain !== '' && (row.cause === 'waf' || detail?.waf) && (
          <ExceptionButton siteId={site.id} from={{ reqID: row.id }} />
        )}
        <h3>{t('logs.parts.request')}</h3>
        <dl className={classes['facts']}>
          <Fact term="URL" copy={row.args === '' ? url : `${url}?${row.args}`} tools={filterBy('uri', row.uri)}>
            <VisitorText text={url} />
          </Fact>
          {row.args !== '' && (
            <Fact term={t('logs.query')} copy={row.args}>
              <VisitorText text={row.args} />
            </Fact>
          )}
          <Fact term={t('logs.fields.method')} tools={filterBy('method', row.method)}>
            <VisitorText text={row.method} />
          </Fact>
          <Fact term={t('logs.protocol')}>
            <VisitorText text={row.httpVersion} />
          </Fact>
          <Visited
            term={t('logs.fields.userAgent')}
            text={row.userAgent}
            tools={filterBy('userAgent', row.userAgent)}
          />
          <Visited term={t('logs.fields.referer')} text={row.referer} tools={filterBy('referer', row.referer)} />
          <Fact term={t('logs.size')}>{bytes(row.requestBytes)}</Fact>
        </dl>
        <h3>{t('logs.parts.response')}</h3>
        <dl className={classes['facts']}>
          <Fact term={t('logs.fields.status')} tools={filterBy('status', String(row.status))}>
            {row.status}
          </Fact>
          <Fact term={t('logs.size')}>{bytes(row.bytes)}</Fact>
          <Fact term={t('logs.took')}>{took(row.requestTime)}</Fact>
          <Fact term={t('logs.fields.cacheStatus')} tools={filterBy('cacheStatus', row.cacheStatus || '-')}>
            <CacheStatus value={row.cacheStatus} />
          </Fact>
          <Fact term={t('logs.origin')}>{row.upstream === '' ? t('logs.noOrigin') : row.upstream}</Fact>
          <Fact term={t('logs.originTook')}>{row.upstreamTime === null ? <Nothing /> : took(row.upstreamTime)}</Fact>
        </dl>
      </div>
    </>
  );
}

function CacheStatus({ value }: { value: string }) {
  const t = useT();
  if (value === '') return <>{t('logs.cache.none')}</>;
  const explained = tMaybe(`logs.cache.${value}`);
  return (
    <>
      {value}
      {explained !== null && <span className={classes['explained']}> {explained}</span>}
    </>
  );
}

/** A header that visitors may omit. */
function Visited({ term, text, tools }: { term: string; text: string; tools: ReactNode }) {
  if (text === '')
    return (
      <Fact term={term}>
        <Nothing />
      </Fact>
    );
  return (
    <Fact term={term} copy={text} tools={tools}>
      <VisitorText text={text} />
    </Fact>
  );
}

interface FactProps {
  term: string;
  copy?: string;
  tools?: ReactNode;
  children: ReactNode;
}

function Fact({ term, copy, tools, children }: FactProps) {
  return (
    <div className={classes['fact']}>
      <dt>{term}</dt>
      <dd>
        {children}
        {(copy !== undefined || tools) && (
          <span className={classes['factTools']}>
            {copy !== undefined && <CopyIcon text={copy} name={term} />}
            {tools}
          </span>
        )}
      </dd>
    </div>
  );
}

interface FilterByProps {
  of: FilterKey;
  value: string;
  /** Name of an ID. */
  name?: string;
  onFilter: RequestPanelProps['onFilter'];
}

function FilterBy({ of: key, value, name, onFilter }: FilterByProps) {
  const t = useT();
  const button = (isNot: boolean, Mark: Icon) => {
    const label = t('logs.filterBy', { filter: inWords(key, isNot, name ?? value) });
    return (
      <ActionIcon
        size={20}
        title={label}
        aria-label={label}
        onClick={() => onFilter(key, isNot, value.slice(0, MAX_VALUE))}
      >
        <Mark size={14} stroke={1.6} />
      </ActionIcon>
    );
  };
  return (
    <>
      {button(false, IconFilterPlus)}
      {key !== 'siteIDs' && button(true, IconFilterMinus)}
    </>
  );
}

/** The cause and the rule that refused or redirected the request. */
function DecisionBox({ row, onFilter }: Pick<RequestProps, 'row' | 'onFilter'>) {
  const t = useT();
  const decision = decisionOf(row);
  const wafRuleName = useRuleName(row.cause === 'waf');
  if (decision === null) return null;
  const name = row.cause === 'waf' ? wafRuleName(wafRuleID(row.rule)) : row.ruleName;
  const view = viewOfCause[row.cause];
  const why = tMaybe(`logs.why.${row.cause}`);
  const outcome = decision === 'monitored' ? t('logs.outcome.monitored') : t(outcomeOf(row), { status: row.status });
  return (
    <section className={classes['decision']} data-decision={decision}>
      <div className={classes['decisionHead']}>
        <h3>{t(`logs.decision.${decision}`, { cause: causeName(row.cause) })}</h3>
        <FilterBy of="cause" value={row.cause} onFilter={onFilter} />
      </div>
      {why !== null && <p>{why}</p>}
      <p>{outcome}</p>
      {row.rule !== '' && (
        <p>
          {t('logs.rule')} {name && <strong>{name}</strong>} <code>{row.rule}</code> <CopyIcon text={row.rule} />
          <FilterBy of="rule" value={row.rule} onFilter={onFilter} />
        </p>
      )}
      {view !== undefined && row.siteID !== null && (
        <Link to={siteAddress({ id: row.siteID, name: row.siteName }, view)}>{t('logs.openRules')}</Link>
      )}
    </section>
  );
}

const outcomeOf = ({ status }: LogRow) => (status === 444 ? 'logs.outcome.closed' : 'logs.outcome.answered');

/** The link opens the same period, filters and request. */
function linkTo(id: string) {
  const url = new URL(location.href);
  url.searchParams.set('request', id);
  return url.href;
}

function CopyAction({ icon: Mark, label, text }: { icon: Icon; label: string; text: () => string }) {
  const t = useT();
  const { copy, copied } = useClipboard({ timeout: 1500 });
  return (
    <ActionIcon title={copied ? t('common.copied') : label} aria-label={label} onClick={() => copy(text())}>
      {copied ? <IconCheck size={16} stroke={1.6} /> : <Mark size={16} stroke={1.6} />}
    </ActionIcon>
  );
}
