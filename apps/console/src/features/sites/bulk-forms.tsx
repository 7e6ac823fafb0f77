import { products } from '@edgeloom/contract/products/products.endpoints.ts';
import { clientSites } from '@edgeloom/contract/sites/sites.endpoints.ts';
import { OwnLimits, SiteExpiryInput, SiteProductInput, SiteTagsInput } from '@edgeloom/contract/sites/sites.ts';
import { useState } from 'react';
import { SelectMetaField } from '../../components/fields/select-meta-field.tsx';
import { TagsField } from '../../components/fields/tags-field.tsx';
import { TimeField } from '../../components/fields/time-field.tsx';
import { ResourceForm } from '../../components/resource-form/resource-form.tsx';
import { OwnLimitField } from './own-limit-field.tsx';
import { changedLimits, commonLimits, type LimitName } from './own-limits.ts';
import type { Site } from './site-actions.ts';

const SomeLimits = OwnLimits.partial();

const withSites = (sites: readonly Site[]) => (body: object) => ({ siteIDs: sites.map(({ id }) => id), ...body });

/** Sets the same expiry for all of the sites. */
export function ExpiryForm({ sites }: { sites: readonly Site[] }) {
  const [first] = sites;
  return (
    <ResourceForm
      update={clientSites.setExpiry}
      value={{ id: sites.map(({ id }) => id).join(), expiry: sites.length === 1 ? (first?.expiry ?? null) : null }}
      schema={SiteExpiryInput.pick({ expiry: true })}
      words="sites"
      wrap={withSites(sites)}
      refreshes={['sites']}
    >
      <TimeField name="expiry" nullable />
    </ResourceForm>
  );
}

/** Replaces the tags of all of the sites. */
export function TagsForm({ sites }: { sites: readonly Site[] }) {
  const [first] = sites;
  return (
    <ResourceForm
      update={clientSites.setTags}
      value={{ id: sites.map(({ id }) => id).join(), tags: sites.length === 1 ? (first?.tags ?? []) : [] }}
      schema={SiteTagsInput.pick({ tags: true })}
      words="sites"
      wrap={withSites(sites)}
      refreshes={['sites']}
    >
      <TagsField name="tags" />
    </ResourceForm>
  );
}

/** Sets own limits of all of the sites. Where they differ, a limit stays unless it is chosen. */
export function LimitsForm({ sites }: { sites: readonly Site[] }) {
  // Loading the list again must not change what counts as changed.
  const [before] = useState(() => commonLimits(sites));
  const field = (name: LimitName, suffix?: string) => (
    <OwnLimitField name={name} differs={before[name] === undefined} {...(suffix !== undefined && { suffix })} />
  );
  return (
    <ResourceForm
      update={clientSites.setLimitations}
      value={{ id: sites.map(({ id }) => id).join(), ...before }}
      schema={SomeLimits}
      words="sites"
      wrap={(input) => withSites(sites)(changedLimits(before, input))}
      refreshes={['sites']}
    >
      {field('domainLimit')}
      {field('portLimit')}
      {field('autoCertificateLimit')}
      {field('maxConnections')}
      {field('responseMbps', ' Mbit/s')}
    </ResourceForm>
  );
}

/** Moves all of the sites to another product of their zone. */
export function ProductForm({ sites }: { sites: readonly Site[] }) {
  const [first] = sites;
  return (
    <ResourceForm
      update={clientSites.changeProduct}
      value={{ id: sites.map(({ id }) => id).join(), productID: first?.productID ?? '' }}
      schema={SiteProductInput.pick({ productID: true })}
      words="sites"
      wrap={withSites(sites)}
      refreshes={['sites', 'products', 'zones']}
    >
      <SelectMetaField name="productID" meta={products.meta} />
    </ResourceForm>
  );
}
