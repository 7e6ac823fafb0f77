// Theme, language and density from the last visit, under the keys of stores/preferences.ts; the files that the page will
// need, which then load beside its script (build/preload.ts); and a message when the console does not start.
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

  // Main.tsx reports its own failures; its script itself may not arrive either. As CHUNK_MS in lib/time-limit.ts.
  var LIMIT_MS = 120000;
  var notStarted = {
    'zh-TW': ['控制台在 2 分鐘內沒有載入完成。請檢查網路連線後重新載入。', '重新載入'],
    'zh-CN': ['控制台在 2 分钟内没有加载完成。请检查网络连接后重新加载。', '重新加载'],
    en: ['The console did not load within 2 minutes. Check your connection, then reload.', 'Reload'],
  };
  function showNotStarted() {
    var page = document.getElementById('root');
    if (!page || page.hasChildNodes()) return;
    var words = notStarted[root.lang] || notStarted.en;
    var main = document.createElement('main');
    main.style.cssText = 'padding: 20vh 20px; text-align: center; font: 16px system-ui, sans-serif';
    var text = document.createElement('h1');
    text.style.cssText = 'margin: 0 0 16px; font: inherit';
    text.textContent = words[0];
    var button = document.createElement('button');
    button.type = 'button';
    button.textContent = words[1];
    button.style.cssText = 'padding: 8px 16px; font: inherit';
    button.addEventListener('click', function () {
      location.reload();
    });
    main.append(text, button);
    page.append(main);
  }
  setTimeout(showNotStarted, LIMIT_MS);
  addEventListener('start-failed', showNotStarted);

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
  // A guess for the first visit, which only decides what loads early; lib/browser-language.ts chooses the language.
  var tag = navigator.language.toLowerCase();
  var guess = tag.slice(0, 2) === 'en' ? 'en' : /^zh-(hans|cn|sg)/.test(tag) ? 'zh-CN' : 'zh-TW';
  var language = files.words[kept.language] ? kept.language : guess;
  preload(files.words[language]);
  var family = location.pathname.split('/')[1] || '';
  var isSignedIn = document.cookie.indexOf(family.charAt(0) + '_accessToken=') !== -1;
  if (!isSignedIn) return;
  var isDashboard = /^\/\w+\/(dashboard)?$/.test(location.pathname);
  files.frame.concat(files.frameWords[language], isDashboard ? [] : files.pageWords[language]).forEach(preload);
})();
