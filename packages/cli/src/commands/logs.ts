import { logs } from '@edgeloom/contract/logs/logs.endpoints.ts';
import type { LogFilters, TailEvent } from '@edgeloom/contract/logs/logs.ts';
import { setTimeout } from 'node:timers/promises';
import type * as z from 'zod';
import { assertNoPositionals, jsonOption, readArguments, siteOption, type Command } from '../command.ts';
import { isTemporary, openSiteSession, RECONNECTING } from '../session.ts';
import { findSite } from '../sites.ts';

type LogRow = z.input<typeof TailEvent>['rows'][number];

/** A server that ends each stream at once is not called in a busy loop. */
const RECONNECT_PAUSE_MS = 1000;

export const tail: Command = {
  usage: '[--site SITE] [--host NAME…] [--status 404|5xx…] [--path PART…] [--address ADDRESS…] [--json]',
  summary: 'print requests as the nodes report them, until Ctrl-C',
  async run(terminal, args) {
    const many = { type: 'string', multiple: true } as const;
    const options = { ...siteOption, ...jsonOption, host: many, status: many, path: many, address: many };
    const { values, positionals } = readArguments(args, options);
    assertNoPositionals(positionals);
    const filter: LogFilters = {
      ...(values.host && { host: values.host }),
      ...(values.status && { status: values.status }),
      ...(values.path && { uri: values.path }),
      ...(values.address && { remoteIP: values.address }),
    };
    const session = await openSiteSession(terminal);
    const site = values.site === undefined ? null : await findSite(session, values.site);
    const query = { ...(site && { siteIDs: [site.id] }), filter: JSON.stringify(filter) };
    const format = values.json ? (row: LogRow) => JSON.stringify(row) : formatRow;
    const { signal } = terminal;
    const connection = { wasOpen: false, isBroken: false };
    const readStream = async () => {
      for await (const { rows, dropped } of await session.call(logs.tail, { query }, { signal })) {
        Object.assign(connection, { wasOpen: true, isBroken: false });
        rows.forEach((row) => terminal.print(format(row)));
        if (dropped > 0) terminal.printError(`${dropped} more requests are not shown: too many at once.`);
      }
    };
    // The API ends a stream after ten minutes, and earlier when it restarts.
    while (!signal.aborted)
      try {
        await readStream();
        await setTimeout(RECONNECT_PAUSE_MS, undefined, { signal });
      } catch (error) {
        if (signal.aborted) return;
        if (!connection.wasOpen || !isTemporary(error)) throw error;
        if (!connection.isBroken) terminal.printError(RECONNECTING);
        connection.isBroken = true;
        await setTimeout(RECONNECT_PAUSE_MS, undefined, { signal }).catch(() => undefined);
      }
  },
};

function formatRow({ time, status, method, scheme, host, uri, args, bytes, cacheStatus, address, userAgent }: LogRow) {
  const url = `${scheme}://${host}${uri}${args === '' ? '' : `?${args}`}`;
  return `${time}  ${status}  ${cacheStatus || '-'}  ${address}  ${method} ${url}  ${bytes} B  ${userAgent}`;
}
