// Module documents, with everything precomputed for the edge.
import type { CorsSettings } from '@edgeloom/contract/modules/cors.ts';
import { CorsSettings as CorsStored } from '@edgeloom/contract/modules/cors.ts';
import { CustomHeaderSettings, headerVariables } from '@edgeloom/contract/modules/custom-headers.ts';
import { ModuleKind } from '@edgeloom/contract/modules/modules.ts';
import { ProxyRewriteSettings } from '@edgeloom/contract/modules/proxy-rewrites.ts';
import { literalOf, partsOfTarget, readSource } from '@edgeloom/contract/modules/redirect-rules.ts';
import { redirectTable, type RedirectRule } from '@edgeloom/contract/modules/redirect-table.ts';
import { TokenAuthSettings, type StoredAuth } from '@edgeloom/contract/modules/token-auths.ts';
import { partsOf, patternOf, textVariables } from '@edgeloom/contract/modules/token-recipe.ts';
import { hashOf } from '@edgeloom/contract/modules/token-signer.ts';
import { comparedValues } from '@edgeloom/contract/common/paths.ts';
import { placeOf } from '@edgeloom/contract/common/redirect-target.ts';
import { moduleKey } from '@edgeloom/contract/edge/documents.ts';
import type {
  CorsDoc,
  CustomHeaderDoc,
  ModuleDoc,
  ProxyRewriteDoc,
  TokenAuthDoc,
} from '@edgeloom/contract/edge/module-doc.ts';
import { aclDoc } from './acl.ts';
import { luaAclDoc } from './lua-acl.ts';
import { wafDoc } from './waf.ts';
import { sealTo } from './seal.ts';
import type { ZoneKey } from './seal.ts';

export interface ModuleRow {
  id: string;
  kind: string;
  settings: unknown;
  /** Enabled redirects. */
  redirects: RedirectRule[] | null;
}

/** Decrypts keys of modules and seals them for the zone. */
export interface Keyring {
  zoneKey: ZoneKey;
  open: (id: string) => string;
}

/** `keyring` is called only for modules with keys. */
export function moduleDoc(row: ModuleRow, keyring: () => Keyring = noKeys): ModuleDoc {
  const kind = ModuleKind.parse(row.kind);
  if (kind === 'customHeader') return customHeaderDoc(row);
  if (kind === 'urlRedirect')
    return { kind: 'module', id: row.id, module: kind, ...redirectTable(row.redirects ?? []) };
  if (kind === 'proxyRewrite') return proxyRewriteDoc(row);
  if (kind === 'acl') return aclDoc(row);
  if (kind === 'luaAcl') return luaAclDoc(row);
  if (kind === 'waf') return wafDoc(row);
  if (kind === 'tokenAuth') return tokenAuthDoc(row, keyring());
  return corsDoc(row.id, CorsStored.parse(row.settings));
}

function noKeys(): never {
  throw new Error('there is nobody to open its keys');
}

const variable = new RegExp(`\\{(${headerVariables.join('|')})\\}`);

function customHeaderDoc({ id, settings }: Pick<ModuleRow, 'id' | 'settings'>): CustomHeaderDoc {
  const { headers } = CustomHeaderSettings.parse(settings);
  const on = (direction: 'request' | 'response') =>
    headers
      .filter((header) => header.direction === direction)
      // split() with a group alternates text and group.
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
      const spelled = partsOfTarget(type, path, type === 'prefix' && keepRest);
      return {
        type,
        source: type === 'regex' ? source : (readSource(type, source)?.path ?? source),
        literal: type === 'regex' ? literalOf(source) : '',
        path: spelled.map((part) => decodeURIComponent(part)),
        spelled,
        query: query.join('?').replace(/[^\x21-\x7e]/gu, (char) => encodeURIComponent(char)),
        keepRest,
        keepQuery,
        host,
      };
    }),
  };
}

function tokenAuthDoc({ id, settings }: Pick<ModuleRow, 'id' | 'settings'>, keyring: Keyring): TokenAuthDoc {
  const auths = TokenAuthSettings.parse(settings).auths.filter(({ enabled }) => enabled);
  return { kind: 'module', id, module: 'tokenAuth', auths: auths.map((auth) => authDoc(auth, moduleKey(id), keyring)) };
}

function authDoc(auth: StoredAuth, docKey: string, { zoneKey, open }: Keyring): TokenAuthDoc['auths'][number] {
  const place = auth.action === 'redirect' && auth.target !== null ? placeOf(auth.target) : null;
  return {
    id: auth.id,
    paths: { type: auth.type, value: comparedValues(auth) },
    ...(auth.except && { except: { type: auth.except.type, value: comparedValues(auth.except) } }),
    place: auth.place,
    parts: auth.parts.map(({ name, format }) => {
      const { pattern, names } = patternOf(format, auth);
      return { name, pattern, variables: names };
    }),
    text: partsOf(auth.text, textVariables),
    hash: hashOf[auth.algorithm],
    hmac: auth.algorithm.startsWith('hmac'),
    encoding: auth.encoding,
    timeFormat: auth.timeFormat,
    utcOffset: auth.utcOffset,
    goodSeconds: auth.timeMeans === 'signed' ? auth.validSeconds : 0,
    notEarly: auth.timeMeans === 'signed',
    leewaySeconds: auth.leewaySeconds,
    keys: auth.keys.map((key) => sealTo(zoneKey, docKey, open(key.id))),
    ...(place && auth.target !== null && { redirect: { url: auth.target, ...place } }),
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
    exact: origins.filter((origin) => origin === 'null' || (origin.includes('://') && !wildcards.includes(origin))),
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

/** As browsers send it: lower case, without the default port. */
const plainOrigin = (origin: string) =>
  origin
    .toLowerCase()
    .replace(/^(http:.*):80$/, '$1')
    .replace(/^(https:.*):443$/, '$1');
