// Sanitizes HTML for previews: nothing in it runs, fetches or navigates. The sandboxed frame enforces the same;
// sanitizing avoids CSP errors.

const gone = 'script, noscript, iframe, frame, object, embed, link, meta, base, template, style, el-style';
/** Attributes that fetch or navigate. */
const leading =
  /^(on.*|src|srcset|href|xlink:href|action|formaction|poster|data|background|ping|srcdoc|style|target|data-el.*)$/i;

export interface QuietPage {
  html: string;
  /** Added by script, because the CSP blocks inline styles. */
  css: string;
}

/** Renamed before parsing, because the parser would trigger CSP errors for styles and handlers. */
const renamed = (html: string) =>
  html
    .replace(/<(\/?)style\b/gi, '<$1el-style')
    .replace(/<[a-z][^>]*>/gi, (tag) => tag.replace(/([\s"'/])(style|on[a-z]+)(?=\s*=)/gi, '$1data-el-$2'));

export function quiet(html: string): QuietPage {
  const page = new DOMParser().parseFromString(renamed(html), 'text/html');
  const css = [...page.querySelectorAll('el-style')].map(({ textContent }) => textContent);
  for (const element of page.querySelectorAll(gone)) element.remove();
  for (const [i, element] of [...page.querySelectorAll('*')].entries()) {
    const own = element.getAttribute('data-el-style');
    for (const name of element.getAttributeNames()) if (leading.test(name)) element.removeAttribute(name);
    if (own === null) continue;
    element.setAttribute('data-el', String(i));
    css.push(`[data-el="${i}"] { ${own} }`);
  }
  return { html: page.documentElement.outerHTML, css: css.join('\n').replace(/url\([^)]*\)/gi, 'none') };
}
