import { errorPages } from '@edgeloom/contract/error-pages/error-pages.endpoints.ts';
import type { ErrorPageInput } from '@edgeloom/contract/error-pages/error-pages.ts';
import type { ApplyContext } from './context.ts';
import { compareLists } from './difference.ts';
import { fieldLines, planned, type PlannedSection } from './plan.ts';

export async function planErrorPages(
  context: ApplyContext,
  wanted: readonly ErrorPageInput[],
): Promise<PlannedSection> {
  const { call, params, options } = context;
  const { data } = await call(errorPages.list, { params });
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
    send: async () => {
      if (removed.length > 0)
        await call(errorPages.remove, { params, body: { ids: removed.map(({ id }) => id) } }, options);
      const updated = changed.map(({ wanted, current }) => ({ ...wanted, id: current.id }));
      if (updated.length > 0) await call(errorPages.update, { params, body: { errorPages: updated } }, options);
      if (added.length > 0) await call(errorPages.create, { params, body: { errorPages: added } }, options);
    },
  };
}
