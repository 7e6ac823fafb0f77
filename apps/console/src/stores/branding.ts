import type { ShownBranding } from '@edgeloom/contract/branding/branding.ts';

/** Branding of this host name. The server writes it into the page, so it is available before the first paint. */
export const branding: ShownBranding = readPage();

function readPage(): ShownBranding {
  const written = globalThis.document?.querySelector('meta[name="branding"]')?.getAttribute('content');
  const found: unknown = written ? JSON.parse(written) : {};
  const text = (name: string) => {
    const value: unknown = Reflect.get(Object(found), name);
    return typeof value === 'string' ? value : '';
  };
  return {
    title: text('title'),
    copyright: text('copyright'),
    logo: text('logo') || null,
    favicon: text('favicon') || null,
    backgroundImage: text('backgroundImage') || null,
    sidebarLogo: text('sidebarLogo') || null,
    sidebarSimpleLogo: text('sidebarSimpleLogo') || null,
  };
}
