// A page that somebody else wrote, made into one that can be looked at in the console: nothing of it runs, fetches or leads
// anywhere. The frame it is shown in says so as well; here it is made so that the browser has nothing to refuse.

const gone = 'script, noscript, iframe, frame, object, embed, link, meta, base, template, style, el-style';
/** What fetches or leads somewhere. */
const leading =
  /^(on.*|src|srcset|href|xlink:href|action|formaction|poster|data|background|ping|srcdoc|style|target|data-el.*)$/i;

export interface QuietPage {
  html: string;
  /** Put in by script: the console's policy lets no page bring styles of its own. */
  css: string;
}

/** Read as they stand, styles and handlers would be refused by the console's policy, so they are renamed before. */
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
