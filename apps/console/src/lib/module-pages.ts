import type { ModuleKind } from '@edgeloom/contract/modules/modules.ts';

/** A site's page with its modules of each kind, and the page's words. */
export const modulePages = {
  urlRedirect: { view: 'redirects', words: 'urlRedirects' },
  customHeader: { view: 'headers', words: 'customHeaders' },
  cors: { view: 'cors', words: 'cors' },
  proxyRewrite: { view: 'rewrite', words: 'proxyRewrites' },
  tokenAuth: { view: 'tokens', words: 'tokenAuths' },
  acl: { view: 'access', words: 'acls' },
  luaAcl: { view: 'scripts', words: 'luaAcls' },
  waf: { view: 'waf', words: 'wafs' },
} as const satisfies Record<ModuleKind, { view: string; words: string }>;
