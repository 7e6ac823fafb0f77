import { purge } from '@edgeloom/contract/purge/purge.endpoints.ts';
import { createElement } from 'react';
import { useNavigate } from 'react-router-dom';
import { useConfirm } from '../../components/confirm/confirm.tsx';
import { useOverlay } from '../../components/overlay/overlay.tsx';
import { JobReceipts } from '../../components/receipts/job-receipts.tsx';
import { call } from '../../lib/api.ts';
import { toastError } from '../../lib/errors.ts';
import { useT } from '../../lib/i18n.ts';
import { refresh } from '../../lib/queries.ts';
import { follow } from '../../stores/jobs.ts';
import { placeOf, usePalette } from '../../stores/palette.ts';
import { PickThing, type Question } from './pick-thing.tsx';
import { remember, type Recent } from './recent.ts';

export type Tools = ReturnType<typeof useTools>;

/** Actions of palette items. They run after the palette has closed. */
export function useTools() {
  const t = useT();
  const confirm = useConfirm();
  const overlay = useOverlay();
  const navigate = useNavigate();

  const go = (opened: Recent) => {
    remember(opened);
    return navigate(opened.to);
  };

  async function start(siteId: string, begin: Promise<{ jobID: string }>) {
    try {
      const { jobID } = await begin;
      follow(jobID, siteId);
      await refresh([purge.urls.feature]);
      overlay(createElement(JobReceipts, { siteId, jobID }), { title: 'purge.receipts', wide: true });
    } catch (error) {
      toastError(error);
    }
  }

  const goTo = (address: string) => navigate(address);
  /** Opens the page with its create form, by pressing the page's main action or these buttons. */
  const create = (address: string, press: readonly string[] = ['main [data-main-action]']) => {
    usePalette.setState({ creating: { place: placeOf(address), press } });
    return navigate(address);
  };
  const ask = (question: Question) =>
    overlay(createElement(PickThing, { key: question.label, ...question }), { title: question.label });

  const points = [t('purge.originPoint'), t('purge.offlinePoint')];
  return {
    go,
    goTo,
    create,
    ask,
    purgeURLs: (siteId: string, urls: readonly string[]) =>
      start(siteId, call(purge.urls, { params: { siteId }, body: { type: 1, urls: [...urls] } })),
    purgeHost: async (siteId: string, host: string) => {
      const title = t('palette.purgeHostTitle', { host });
      if (await confirm({ title, points, verb: t('palette.purgeHost') }))
        await start(siteId, call(purge.urls, { params: { siteId }, body: { type: 3, urls: [host] } }));
    },
    purgeSite: async (site: { id: string; name: string }) => {
      const title = t('purge.siteTitle', { name: site.name });
      if (await confirm({ title, points, verb: t('purge.submitSite') }))
        await start(site.id, call(purge.all, { params: { siteId: site.id } }));
    },
  };
}
