// Theme, language and density from the last visit. The same keys as stores/preferences.ts.
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
})();
