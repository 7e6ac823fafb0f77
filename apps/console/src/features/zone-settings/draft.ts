// Unpublished changes by field, so that concurrent changes of other fields are kept.
import type { zoneSettings } from '@edgeloom/contract/zone-settings/zone-settings.endpoints.ts';
import type { ConfigDraft } from '@edgeloom/contract/zone-settings/zone-settings.ts';
import type { Received } from '@edgeloom/contract/endpoint.ts';

export type Settings = Received<typeof zoneSettings.get>;
type Plain = Pick<Settings, 'http2' | 'http3' | 'soakSeconds' | 'forceSSLRedirectCode'>;
type Parts = Pick<Settings, 'resource' | 'nginx' | 'firewall' | 'antiCC' | 'ipset' | 'visitorAddress'>;
/** Ports have their own tab. */
export type Patch = Partial<Plain & Parts>;
export type Draft = Partial<Plain> & { [Part in keyof Parts]: Partial<Parts[Part]> };

const plainOf = ({ http2, http3, soakSeconds, forceSSLRedirectCode }: Plain): Plain => ({
  http2,
  http3,
  soakSeconds,
  forceSSLRedirectCode,
});

/** Fields whose value changed. */
function changed<T extends object>(stood: T, written: T): Partial<T> {
  const found: Partial<T> = {};
  for (const name in written)
    if (JSON.stringify(written[name]) !== JSON.stringify(stood[name])) found[name] = written[name];
  return found;
}

export const draftOf = (settings: Settings, wanted: Settings): Draft => ({
  ...changed(plainOf(settings), plainOf(wanted)),
  resource: changed(settings.resource, wanted.resource),
  nginx: changed(settings.nginx, wanted.nginx),
  firewall: changed(settings.firewall, wanted.firewall),
  antiCC: changed(settings.antiCC, wanted.antiCC),
  ipset: changed(settings.ipset, wanted.ipset),
  visitorAddress: changed(settings.visitorAddress, wanted.visitorAddress),
});

/** The settings with the draft applied. */
export const applied = (
  settings: Settings,
  { resource, nginx, firewall, antiCC, ipset, visitorAddress, ...plain }: Draft,
): Settings => ({
  ...settings,
  ...plain,
  resource: { ...settings.resource, ...resource },
  nginx: { ...settings.nginx, ...nginx },
  firewall: { ...settings.firewall, ...firewall },
  antiCC: { ...settings.antiCC, ...antiCC },
  ipset: { ...settings.ipset, ...ipset },
  visitorAddress: { ...settings.visitorAddress, ...visitorAddress },
});

/** A draft that an earlier version stored lacks newer parts. */
const isAny = (part: object | undefined) => part !== undefined && Object.keys(part).length > 0;

/** The request: only edited nginx snippets, and complete other sections. */
export function sentOf(settings: Settings, draft: Draft): Omit<ConfigDraft, 'ports'> {
  const { resource, firewall, antiCC, ipset, visitorAddress } = applied(settings, draft);
  return {
    ...changed(plainOf(settings), plainOf({ ...settings, ...draft })),
    ...(isAny(draft.nginx) && { nginx: draft.nginx }),
    ...(isAny(draft.resource) && { resource }),
    ...(isAny(draft.firewall) && { firewall }),
    ...(isAny(draft.antiCC) && { antiCC }),
    ...(isAny(draft.ipset) && { ipset }),
    ...(isAny(draft.visitorAddress) && { visitorAddress }),
  };
}
