// Checks an untrusted picture in a worker thread. A parser that loops or exhausts memory is ended with its thread. No
// pixels are decoded: sizes come from the header, and active content is removed from SVG files.
import { parentPort, workerData } from 'node:worker_threads';
import { disableTypes, imageSize, types } from 'image-size';
import * as z from 'zod';

export type BrandImageFormat = 'png' | 'jpeg' | 'webp' | 'svg' | 'ico';

const ELEMENTS_AT_MOST = 5000;
const formats: Readonly<Record<string, BrandImageFormat>> = {
  png: 'png',
  jpg: 'jpeg',
  webp: 'webp',
  svg: 'svg',
  ico: 'ico',
};
const Input = z.object({ bytes: z.instanceof(Uint8Array), pixels: z.int() });

export type Checked = { format: BrandImageFormat; bytes: Uint8Array } | { fault: 'imageType' | 'pixels' | 'svg' };

async function check({ bytes, pixels }: z.output<typeof Input>): Promise<Checked> {
  disableTypes(types.filter((type) => !(type in formats)));
  const { type = '', width, height, images = [] } = imageSize(bytes);
  const format = formats[type];
  if (!format) return { fault: 'imageType' };
  if (format === 'svg') return cleanSvg(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  const sides = [{ width, height }, ...images].flatMap((one) => [one.width, one.height]);
  return Math.max(...sides) > pixels || Math.min(...sides) < 1 ? { fault: 'pixels' } : { format, bytes };
}

async function cleanSvg(text: string): Promise<Checked> {
  // A document type may declare entities of unlimited size. A doctype that only names SVG is removed.
  const bare = text.replace(/<!DOCTYPE\s+svg(?:\s+PUBLIC\s+"[^"<>]*"\s+"[^"<>]*")?\s*>/i, '');
  if (/<!(?:DOCTYPE|ENTITY)/i.test(bare)) return { fault: 'svg' };
  const { JSDOM } = await import('jsdom');
  const { default: createPurifier } = await import('dompurify');
  const { window } = new JSDOM('');
  const root = new window.DOMParser().parseFromString(bare, 'image/svg+xml').documentElement;
  if (root.nodeName !== 'svg' || root.getElementsByTagName('*').length > ELEMENTS_AT_MOST) return { fault: 'svg' };

  const purifier = createPurifier(window);
  purifier.addHook('uponSanitizeElement', (node, { tagName }) => {
    if (tagName === 'style' && leadsOut(node.textContent ?? '')) node.parentNode?.removeChild(node);
  });
  purifier.addHook('uponSanitizeAttribute', (_, attribute) => {
    const { attrName, attrValue } = attribute;
    const isReference = attrName === 'href' || attrName === 'xlink:href';
    if (leadsOut(attrValue) || (isReference && !/^#[\w.:-]+$/.test(attrValue))) attribute.keepAttr = false;
  });
  purifier.sanitize(root, {
    IN_PLACE: true,
    USE_PROFILES: { svg: true, svgFilters: true },
    FORBID_TAGS: ['a', 'image', 'feImage'],
    ALLOW_DATA_ATTR: false,
  });
  const clean = new window.XMLSerializer().serializeToString(root);
  return { format: 'svg', bytes: new TextEncoder().encode(clean) };
}

/** CSS that loads external resources, or contains escapes or comments that hide its content. */
const leadsOut = (css: string) => /\\|@|\/\*|url\(\s*(?!["']?#)|(?:expression|image-set|image|src)\s*\(/i.test(css);

// oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread's port, not a window
const answer = (checked: Checked) => parentPort?.postMessage(checked);
// A file that cannot be parsed is not a picture.
check(Input.parse(workerData)).then(answer, () => answer({ fault: 'imageType' }));
