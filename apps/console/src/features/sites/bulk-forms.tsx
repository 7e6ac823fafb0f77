import { products } from '@edgeloom/contract/products/products.endpoints.ts';
import { clientSites } from '@edgeloom/contract/sites/sites.endpoints.ts';
import { OwnLimits, SiteExpiryInput, SiteProductInput, SiteTagsInput } from '@edgeloom/contract/sites/sites.ts';
import { SelectMetaField } from '../../components/fields/select-meta-field.tsx';
import { TagsField } from '../../components/fields/tags-field.tsx';
import { TimeField } from '../../components/fields/time-field.tsx';
import { ResourceForm } from '../../components/resource-form/resource-form.tsx';
import { OwnLimitField } from './own-limit-field.tsx';
import type { Site } from './site-actions.ts';

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

/** Null where the sites differ: the product's. */
function commonLimits(sites: readonly Site[]): OwnLimits {
  const common = (name: keyof OwnLimits) => {
    const [first = null, ...others] = new Set(sites.map(({ ownLimits }) => ownLimits[name]));
    return others.length > 0 ? null : first;
  };
  return {
    domainLimit: common('domainLimit'),
    portLimit: common('portLimit'),
    autoCertificateLimit: common('autoCertificateLimit'),
    maxConnections: common('maxConnections'),
    responseMbps: common('responseMbps'),
  };
}

/** Sets all own limits of all of the sites. */
export function LimitsForm({ sites }: { sites: readonly Site[] }) {
  return (
    <ResourceForm
      update={clientSites.setLimitations}
      value={{ id: sites.map(({ id }) => id).join(), ...commonLimits(sites) }}
      schema={OwnLimits}
      words="sites"
      wrap={withSites(sites)}
      refreshes={['sites']}
    >
      <OwnLimitField name="domainLimit" />
      <OwnLimitField name="portLimit" />
      <OwnLimitField name="autoCertificateLimit" />
      <OwnLimitField name="maxConnections" />
      <OwnLimitField name="responseMbps" suffix=" Mbit/s" />
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
