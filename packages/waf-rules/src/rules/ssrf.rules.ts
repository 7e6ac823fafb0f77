import { inputs, words, type RuleFile } from '../rule.ts';

const refs = ['CWE-918'];
export const ssrf: RuleFile = {
  category: 'ssrf',
  model: {
    name: words('Inner address by structure', '結構像內部位址', '结构像内部地址'),
    description: words('The text is built like an address inside of the network.', '文字的結構像內部網路位址。', '文本的结构像内部网络地址。'),
  },
  rules: [
    { id: 'ssrf-metadata', severity: 'critical', paranoia: 1, alone: true, targets: inputs, references: refs,
      pattern: String.raw`\b169\.254\.169\.254\b|\b169\.254\.170\.2\b|metadata\.(?:google\.internal|azure\.com|tencentyun\.com)|\b100\.100\.100\.200\b|\[?fd00:ec2::254\]?|/latest/meta-data|computemetadata/v1`, hits: ['http://169.254.169.254/latest/meta-data/', 'metadata.google.internal'], misses: ['169.254', 'metadata google'],
      name: words('Cloud metadata', '雲端中繼資料', '云元数据'), description: words('The address at which clouds give credentials.', '雲端提供憑證的位址。', '云平台提供凭证的地址。') },
    { id: 'ssrf-loopback', severity: 'critical', paranoia: 1, targets: inputs, references: refs,
      pattern: String.raw`\b(?:https?|ftp|ws|dict|gopher|ldap|redis)://(?:[^@/\s]{0,60}@)?(?:localhost|127\.\d{1,3}\.\d{1,3}\.\d{1,3}|127\.1|0\.0\.0\.0|0|\[::1?\]|\[::ffff:(?:127|7f)|0x7f[0-9a-f]{0,6}|2130706433|017700000001|0177\.)(?:[:/?#\s]|$)`, hits: ['http://127.0.0.1:8080/admin', 'http://[::1]/', 'http://2130706433/'], misses: ['http://example.com/127.0.0.1', 'localhost:3000'],
      name: words('Loopback address', '迴路位址', '环回地址'), description: words('A URL of the server itself.', '指向伺服器自身的 URL。', '指向服务器自身的 URL。') },
    { id: 'ssrf-schemes', severity: 'critical', paranoia: 1, targets: inputs, references: refs,
      pattern: String.raw`\b(?:gopher|dict|tftp|sftp|ldap[si]?|netdoc|jar):/{2}\w|\bjar:(?:https?|file):`, hits: ['gopher://127.0.0.1:6379/_x', 'dict://localhost:11211/stat'], misses: ['dictionary: a', 'jar'],
      name: words('Unusual scheme', '不尋常的協定', '不寻常的协议'), description: words('Protocols that reach other services.', '可觸及其他服務的協定。', '可触及其他服务的协议。') },
    { id: 'ssrf-private', severity: 'error', paranoia: 2, targets: inputs, references: refs,
      pattern: String.raw`\bhttps?://(?:10\.\d{1,3}|192\.168|172\.(?:1[6-9]|2\d|3[01]))\.\d{1,3}\.\d{1,3}(?:[:/?#\s]|$)`, hits: ['http://10.0.0.1/', 'https://192.168.1.1:8443/x'], misses: ['10.0.0.1', 'http://11.0.0.1/'],
      name: words('Private address', '私有位址', '私有地址'), description: words('A URL inside of a private network.', '私有網路內的 URL。', '私有网络内的 URL。') },
    { id: 'ssrf-rebinding', severity: 'critical', paranoia: 1, targets: inputs, references: refs,
      pattern: String.raw`\b(?:[\w-]+\.){1,6}(?:nip|sslip|xip)\.io\b|\blocaltest\.me\b|\blvh\.me\b|\b1u\.ms\b`, hits: ['http://127.0.0.1.nip.io/', 'http://localtest.me'], misses: ['nip io', 'example.io'],
      name: words('Name of an inner address', '指向內部位址的名稱', '指向内部地址的域名'), description: words('Public names that resolve to inner addresses.', '會解析為內部位址的公開名稱。', '会解析为内部地址的公开域名。') },
    { id: 'ssrf-out-of-band', severity: 'critical', paranoia: 1, targets: [...inputs, 'header', 'referer', 'path'], references: refs,
      pattern: String.raw`\b[\w-]{4,64}\.(?:burpcollaborator\.net|oastify\.com|oast\.(?:fun|me|pro|live|site|online)|interact\.sh|dnslog\.cn|ceye\.io|canarytokens\.com|requestbin\.net|bxss\.me)\b`, hits: ['http://abcdef.oastify.com/', 'x1y2z3.dnslog.cn'], misses: ['oastify.com', 'example.net'],
      name: words('Address that reports visits', '回報造訪的位址', '回报访问的地址'), description: words('Testers use such names to see that a server fetches URLs.', '測試者以此類名稱確認伺服器會擷取 URL。', '测试者以此类名称确认服务器会抓取 URL。') },
  ],
};
