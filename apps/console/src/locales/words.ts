// The keys that `t` accepts are those of the English files. A new feature adds its line here.
import type apiDoc from './en/apiDoc.json';
import type auth from './en/auth.json';
import type cache from './en/cache.json';
import type common from './en/common.json';
import type dashboard from './en/dashboard.json';
import type domains from './en/domains.json';
import type errors from './en/errors.json';
import type frame from './en/frame.json';
import type jobs from './en/jobs.json';
import type mailbox from './en/mailbox.json';
import type nodes from './en/nodes.json';
import type oidcSetting from './en/oidcSetting.json';
import type palette from './en/palette.json';
import type products from './en/products.json';
import type purge from './en/purge.json';
import type security from './en/security.json';
import type sites from './en/sites.json';
import type status from './en/status.json';
import type zonePorts from './en/zonePorts.json';
import type zones from './en/zones.json';

export interface Words {
  apiDoc: typeof apiDoc;
  auth: typeof auth;
  cache: typeof cache;
  common: typeof common;
  dashboard: typeof dashboard;
  domains: typeof domains;
  errors: typeof errors;
  frame: typeof frame;
  jobs: typeof jobs;
  mailbox: typeof mailbox;
  nodes: typeof nodes;
  oidcSetting: typeof oidcSetting;
  palette: typeof palette;
  products: typeof products;
  purge: typeof purge;
  security: typeof security;
  sites: typeof sites;
  status: typeof status;
  zonePorts: typeof zonePorts;
  zones: typeof zones;
}
