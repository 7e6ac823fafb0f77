// What modules say to the edge, with all that can be worked out once worked out.
import type { CorsSettings } from '@edgeloom/contract/modules/cors.ts';
import { CorsSettings as CorsStored } from '@edgeloom/contract/modules/cors.ts';
import { CustomHeaderSettings, headerVariables } from '@edgeloom/contract/modules/custom-headers.ts';
import { ModuleKind } from '@edgeloom/contract/modules/modules.ts';
import { ProxyRewriteSettings } from '@edgeloom/contract/modules/proxy-rewrites.ts';
import { literalOf, readSource } from '@edgeloom/contract/modules/redirect-rules.ts';
import { redirectTable, type RedirectRule } from '@edgeloom/contract/modules/redirect-table.ts';
import type { CorsDoc, CustomHeaderDoc, ModuleDoc, ProxyRewriteDoc } from '@edgeloom/contract/edge/module-doc.ts';

export interface ModuleRow {
  id: string;
  kind: string;
  settings: unknown;
  /** Of redirects: those that are on. */
  redirects: RedirectRule[] | null;
}

export function moduleDoc(row: ModuleRow): ModuleDoc {
  const kind = ModuleKind.parse(row.kind);
  if (kind === 'customHeader') return customHeaderDoc(row);
  if (kind === 'urlRedirect')
    return { kind: 'module', id: row.id, module: kind, ...redirectTable(row.redirects ?? []) };
  if (kind === 'proxyRewrite') return proxyRewriteDoc(row);
  return corsDoc(row.id, CorsStored.parse(row.settings));
}

const variable = new RegExp(`\\{(${headerVariables.join('|')})\\}`);

function customHeaderDoc({ id, settings }: Pick<ModuleRow, 'id' | 'settings'>): CustomHeaderDoc {
  const { headers } = CustomHeaderSettings.parse(settings);
  const on = (direction: 'request' | 'response') =>
    headers
      .filter((header) => header.direction === direction)
      // A pattern with a group splits into text and group in turns.
      .map(({ action, name, value }) => ({ action, name, value: value.split(variable) }));
  return { kind: 'module', id, module: 'customHeader', request: on('request'), response: on('response') };
}

function proxyRewriteDoc({ id, settings }: Pick<ModuleRow, 'id' | 'settings'>): ProxyRewriteDoc {
  const rules = ProxyRewriteSettings.parse(settings).rules.filter(({ enabled }) => enabled);
  return {
    kind: 'module',
    id,
    module: 'proxyRewrite',
    rules: rules.map(({ type, source, target, keepRest, keepQuery, host }) => {
      const [path = '/', ...query] = target.split('?');
      const plain = decodeURIComponent(path);
      return {
        type,
        source: type === 'regex' ? source : (readSource(type, source)?.path ?? source),
        literal: type === 'regex' ? literalOf(source) : '',
        path:
          type === 'regex'
            ? plain.split(/\$([1-9])/)
            : [type === 'prefix' && keepRest ? plain.replace(/\/$/, '') : plain],
        query: query.join('?').replace(/[^\x21-\x7e]/gu, (char) => encodeURIComponent(char)),
        keepRest,
        keepQuery,
        host,
      };
    }),
  };
}

const OWN = '{host}';

const corsDoc = (id: string, settings: CorsSettings): CorsDoc => {
  const { allowOrigins, allowHeaders, exposeHeaders, allowMethods, maxAge, allowCredentials } = settings;
  const origins = allowOrigins.map(plainOrigin);
  const own = origins.filter((origin) => origin.startsWith(OWN));
  const wildcards = origins.filter((origin) => origin.includes('://*.'));
  return {
    kind: 'module',
    id,
    module: 'cors',
    any: origins.includes('*'),
    exact: origins.filter((origin) => origin.includes('://') && !wildcards.includes(origin)),
    wildcards: wildcards.map((origin) => {
      const star = origin.indexOf('*');
      return { before: origin.slice(0, star), after: origin.slice(star + 1) };
    }),
    own: own.map((origin) => origin.slice(OWN.length)),
    methods: allowMethods.join(', '),
    headers: listed(allowHeaders),
    expose: listed(exposeHeaders),
    maxAge,
    credentials: allowCredentials,
  };
};

const listed = (names: readonly string[]) => (names.includes('*') ? '*' : names.join(', '));

/** As browsers write it: in lower case, without the port that the scheme implies. */
const plainOrigin = (origin: string) =>
  origin
    .toLowerCase()
    .replace(/^(http:.*):80$/, '$1')
    .replace(/^(https:.*):443$/, '$1');
