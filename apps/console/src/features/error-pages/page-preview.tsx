import { useDeferredValue, useMemo } from 'react';
import { useT } from '../../lib/i18n.ts';
import classes from './error-pages.module.css';
import { quiet } from './quiet.ts';

/** A preview in a sandboxed frame without scripts and navigation; our script only adds the styles. */
export function PagePreview({ html }: { html: string }) {
  const t = useT();
  const shown = useDeferredValue(html);
  const page = useMemo(() => quiet(shown), [shown]);
  const dress = (frame: HTMLIFrameElement) => {
    const { contentDocument: inner, contentWindow: window } = frame;
    if (!inner || !window || !('CSSStyleSheet' in window) || typeof window.CSSStyleSheet !== 'function') return;
    const sheet: unknown = Reflect.construct(window.CSSStyleSheet, []);
    if (typeof sheet !== 'object' || sheet === null) return;
    Reflect.get(sheet, 'replaceSync').call(sheet, page.css);
    Reflect.set(inner, 'adoptedStyleSheets', [sheet]);
  };
  return (
    <figure className={classes['preview']}>
      <figcaption>{t('errorPages.preview')}</figcaption>
      <iframe
        title={t('errorPages.preview')}
        sandbox="allow-same-origin"
        srcDoc={page.html}
        onLoad={(event) => dress(event.currentTarget)}
      />
    </figure>
  );
}
