import { certificates } from '@edgeloom/contract/certificates/certificates.endpoints.ts';
import { covers } from '@edgeloom/contract/certificates/certificates.ts';
import { domains } from '@edgeloom/contract/domains/domains.endpoints.ts';
import type { Received } from '@edgeloom/contract/endpoint.ts';
import { Button, Checkbox } from '@mantine/core';
import { useState } from 'react';
import * as z from 'zod';
import { useOverlay, useOverlayClose } from '../../components/overlay/overlay.tsx';
import { runBatch, type Outcome } from '../../components/resource-table/batch.ts';
import { RowResults } from '../../components/row-results/row-results.tsx';
import { call } from '../../lib/api.ts';
import { toastError, withCode } from '../../lib/errors.ts';
import { useT } from '../../lib/i18n.ts';
import { refresh } from '../../lib/queries.ts';
import { useCan } from '../../lib/use-can.ts';
import classes from './certificates.module.css';

type Domain = Received<typeof domains.list>['data'][number];
const Saved = z.object({
  id: z.string(),
  sslName: z.string(),
  names: z.array(z.string()),
  expiry: z.string().nullable(),
});
const PAGE = 500;

/** Domains that the certificate covers and that do not use it yet. */
async function matchesOf(siteId: string, certificate: { id: string; names: readonly string[] }): Promise<Domain[]> {
  const found: Domain[] = [];
  for (let page = 1; ; page += 1) {
    const { data, total } = await call(domains.list, {
      params: { siteId },
      query: { page, pageSize: PAGE, sortBy: 'name' },
    });
    found.push(...data);
    if (data.length < PAGE || found.length >= total) break;
  }
  return found.filter(({ name, certificateID }) => covers(certificate.names, name) && certificateID !== certificate.id);
}

/** Offers a saved certificate to the domains that it covers. */
export function useOfferMatches(siteId: string) {
  const t = useT();
  const can = useCan();
  const overlay = useOverlay();
  return async (reply: unknown) => {
    const saved = Saved.safeParse(reply).data;
    // Without a certificate chain there is nothing to serve yet.
    if (!saved || saved.expiry === null || !can(certificates.assign) || !can(domains.list)) return;
    try {
      const matches = await matchesOf(siteId, saved);
      if (matches.length > 0)
        overlay(<MatchOffer siteId={siteId} certId={saved.id} matches={matches} />, {
          title: { text: t('certificates.offer.title', { count: matches.length, name: saved.sslName }) },
        });
    } catch (error) {
      toastError(error);
    }
  };
}

interface MatchOfferProps {
  siteId: string;
  certId: string;
  matches: readonly Domain[];
}

/** Domains without a certificate are preselected; each row shows its result. */
function MatchOffer({ siteId, certId, matches }: MatchOfferProps) {
  const t = useT();
  const close = useOverlayClose();
  const bare = matches.filter(({ certificateID }) => certificateID === null).map(({ id }) => id);
  const [chosen, setChosen] = useState<readonly string[]>(bare);
  const [outcomes, setOutcomes] = useState<readonly Outcome<Domain>[] | null>(null);
  const [busy, setBusy] = useState(false);
  const send = async (rows: readonly Domain[], actionId: string) => {
    const body = { domainIDs: rows.map(({ id }) => id) };
    await call(certificates.assign, { params: { siteId, certId }, body }, { actionId });
  };
  const submit = async () => {
    setBusy(true);
    const rows = matches.filter(({ id }) => chosen.includes(id));
    setOutcomes(await runBatch(rows, { send, namesOf: ({ id, name }) => [id, name], onProgress: () => undefined }));
    await refresh([certificates.assign.feature, 'domains']);
    setBusy(false);
  };
  if (outcomes)
    return (
      <div className={classes['assign']}>
        <RowResults
          title={t('shared.rows.results')}
          rows={outcomes.map(({ row, failed }) => ({
            name: row.name,
            outcome: failed ? ('failed' as const) : ('done' as const),
            text: failed && withCode(failed),
          }))}
        />
        <div className="dialog-buttons">
          <Button onClick={close}>{t('common.close')}</Button>
        </div>
      </div>
    );
  return (
    <form
      className={classes['assign']}
      onSubmit={(event) => {
        event.preventDefault();
        void submit();
      }}
    >
      <Checkbox.Group
        label={t('certificates.fields.domains')}
        description={t('certificates.offer.text')}
        value={[...chosen]}
        onChange={setChosen}
      >
        <div className={classes['matches']}>
          {matches.map(({ id, name, certificateID }) => (
            <Checkbox
              key={id}
              value={id}
              label={name}
              description={certificateID === null ? null : t('certificates.offer.replaces')}
            />
          ))}
        </div>
      </Checkbox.Group>
      <div className="dialog-buttons">
        <Button variant="default" onClick={close}>
          {t('certificates.offer.later')}
        </Button>
        <Button type="submit" loading={busy} disabled={chosen.length === 0}>
          {t('certificates.offer.use', { count: chosen.length })}
        </Button>
      </div>
    </form>
  );
}
