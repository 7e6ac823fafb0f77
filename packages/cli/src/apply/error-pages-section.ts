import { errorPages } from '@edgeloom/contract/error-pages/error-pages.endpoints.ts';
import type { ErrorPageInput } from '@edgeloom/contract/error-pages/error-pages.ts';
import type { ApplyContext } from './context.ts';
import { assertRowsUnchanged, sendChanged } from './conflicts.ts';
import { compareLists } from './difference.ts';
import { fieldLines, planned, type PlannedSection } from './plan.ts';

const ERROR_PAGES_OF_A_CALL = 7;

export async function planErrorPages(
  context: ApplyContext,
  wanted: readonly ErrorPageInput[],
): Promise<PlannedSection> {
  const { call, params, options } = context;
  const read = async () => (await call(errorPages.list, { params })).data;
  const data = await read();
  // The API keeps this field where it is absent; a file without it says false.
  const pages = wanted.map((page) => ({ ...page, edgeOnly: page.edgeOnly ?? false }));
  const difference = compareLists(pages, data, ({ code }) => String(code));
  const { added, changed, removed } = difference;
  return {
    title: 'Error pages',
    changes: planned(
      difference,
      ({ code }) => String(code),
      (row) => fieldLines(row, ['code']),
    ),
    difference,
    send: async () => {
      await assertRowsUnchanged(removed, read);
      if (removed.length > 0)
        await call(errorPages.remove, { params, body: { ids: removed.map(({ id }) => id) } }, options);
      await sendChanged(changed, {
        maxRows: ERROR_PAGES_OF_A_CALL,
        read,
        send: (pages, ifMatch) =>
          call(errorPages.update, { params, body: { errorPages: pages } }, { ...options, ifMatch }),
      });
      if (added.length > 0) await call(errorPages.create, { params, body: { errorPages: added } }, options);
    },
  };
}
