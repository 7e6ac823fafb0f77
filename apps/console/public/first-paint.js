// Theme, language and density from the last visit, under the keys of stores/preferences.ts; and the files that the page will
// need, which then load beside its script (build/preload.ts).
(function () {
  var kept = {};
  try {
    kept = JSON.parse(localStorage.getItem('edgeloom.preferences') || '{}').state || {};
  } catch (e) {
    // Storage may be closed to us or hold something else; the defaults are fine then.
  }
  var root = document.documentElement;
  var dark = kept.theme === 'dark' || (kept.theme !== 'light' && matchMedia('(prefers-color-scheme: dark)').matches);
  root.setAttribute('data-mantine-color-scheme', dark ? 'dark' : 'light');
  if (kept.language) root.lang = kept.language;
  if (kept.density) root.setAttribute('data-density', kept.density);

  var files = JSON.parse(document.currentScript.getAttribute('data-files') || 'null');
  if (!files) return;
  function preload(name) {
    var link = document.createElement('link');
    var isStyle = name.slice(-4) === '.css';
    link.rel = isStyle ? 'preload' : 'modulepreload';
    if (isStyle) link.as = 'style';
    link.crossOrigin = '';
    link.href = '/' + name;
    document.head.appendChild(link);
  }
  var language = files.words[kept.language] ? kept.language : 'zh-TW';
  preload(files.words[language]);
  var family = location.pathname.split('/')[1] || '';
  var isSignedIn = document.cookie.indexOf(family.charAt(0) + '_accessToken=') !== -1;
  if (!isSignedIn) return;
  files.frame.concat(files.features[language]).forEach(preload);
})();
