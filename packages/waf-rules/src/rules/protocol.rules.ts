import { words, type RuleFile } from '../rule.ts';

export const protocol: RuleFile = {
  category: 'protocol',
  model: {
    name: words('Suspicious structure', '可疑結構', '可疑结构'),
    description: words('The text is built like an attack of no certain kind.', '文字的結構像攻擊，但無法歸類。', '文本的结构像攻击，但无法归类。'),
  },
  rules: [
    { id: 'protocol-smuggled-request', severity: 'critical', paranoia: 1, targets: ['query', 'path', 'form', 'header', 'cookie'], references: ['CWE-444'],
      pattern: String.raw`[\r\n](?:get|post|put|head|delete|options|connect|trace|patch)\s+[^\s]{1,200}\s+http/\d`, hits: ['x\r\nget /admin http/1.1'], misses: ['get http/1.1 docs'],
      name: words('Request within a value', '值中的請求', '值中的请求'), description: words('A second request behind a line break.', '換行後接第二個請求。', '换行后接第二个请求。') },
    { id: 'protocol-too-many-values', severity: 'notice', paranoia: 1, targets: ['raw'], references: ['CWE-770'],
      pattern: String.raw`(?!)`, hits: [], misses: ['x'],
      name: words('Too many suspicious texts', '可疑文字過多無法檢查', '可疑文本过多无法检查'), description: words('The request has more suspicious texts than a node inspects.', '請求中的可疑文字超過節點能檢查的數量。', '请求中的可疑文本超出节点能检查的数量。') },
    { id: 'protocol-proxy-target', severity: 'critical', paranoia: 1, targets: ['target'], references: ['CVE-2021-40438'],
      pattern: String.raw`\?unix:[a|/]{3,}|unix:a{50}`, hits: ['/?unix:aaaaaaaa|http://x/'], misses: ['/?q=unix:a', '/log?page=https://example.com/|https://example.com/next'],
      name: words('Socket for a proxy', '代理 socket', '代理 socket'), description: words('Makes Apache connect elsewhere.', '使 Apache 連線到其他位置。', '使 Apache 连接到其他位置。') },
    { id: 'protocol-path-confusion', severity: 'error', paranoia: 2, targets: ['path'], references: ['CWE-436'],
      pattern: String.raw`/\.{1,2};/|;/\.\./|/\.{2}\\|//\.\./|/%2e`, hits: ['/app/..;/manager', '/a//../b'], misses: ['/a;b/c', '/a/b'],
      name: words('Ambiguous path', '有歧義的路徑', '有歧义的路径'), description: words('A path that servers read in different ways.', '各伺服器解讀不同的路徑。', '各服务器解读不同的路径。') },
    { id: 'protocol-method-override', severity: 'warning', paranoia: 3, targets: ['name'], references: ['CWE-436'],
      pattern: String.raw`^_method$|^x-http-method(?:-override)?$`, hits: ['_method'], misses: ['method'],
      name: words('Overridden method', '覆寫方法', '覆写方法'), description: words('A parameter that changes the method.', '改變方法的參數。', '改变方法的参数。') },
    { id: 'protocol-large-body', severity: 'notice', paranoia: 1, targets: ['raw'], references: ['CWE-770'],
      pattern: String.raw`(?!)`, hits: [], misses: ['x'],
      name: words('Body too large to inspect', '內容過大無法檢查', '内容过大无法检查'), description: words('The body is longer than the module inspects, and the module refuses such bodies.', '內容超過模組檢查的長度，且模組設定為拒絕。', '内容超过模块检查的长度，且模块设为拒绝。') },
    { id: 'protocol-unknown-length', severity: 'notice', paranoia: 1, targets: ['raw'], references: ['CWE-436'],
      pattern: String.raw`(?!)`, hits: [], misses: ['x'],
      name: words('Body of unknown length', '長度不明的內容', '长度未知的请求体'), description: words('An HTTP/2 or HTTP/3 request without Content-Length, whose body this node cannot inspect.', '沒有 Content-Length 的 HTTP/2 或 HTTP/3 請求，節點無法檢查其內容。', '没有 Content-Length 的 HTTP/2 或 HTTP/3 请求，节点无法检查其请求体。') },
  ],
};
