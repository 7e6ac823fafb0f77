import { values, words, type RuleFile } from '../rule.ts';

const agents = ['userAgent'] as const;
const scannerNames: readonly (readonly [id: string, title: string, pattern: string, hit: string])[] = [
  ['sqlmap', 'sqlmap', String.raw`sqlmap/`, 'sqlmap/1.7.2#stable'],
  ['nikto', 'Nikto', String.raw`\bnikto\b`, 'Mozilla/5.00 (Nikto/2.1.6)'],
  ['nmap', 'Nmap', String.raw`nmap scripting engine`, 'Mozilla/5.0 (compatible; Nmap Scripting Engine)'],
  ['masscan', 'masscan', String.raw`\bmasscan\b`, 'masscan/1.3'],
  ['zgrab', 'ZGrab', String.raw`\bzgrab\b`, 'Mozilla/5.0 zgrab/0.x'],
  ['nuclei', 'Nuclei', String.raw`\bnuclei\b|projectdiscovery`, 'Nuclei - Open-source project (github.com/projectdiscovery/nuclei)'],
  ['wpscan', 'WPScan', String.raw`\bwpscan\b`, 'WPScan v3.8.22'],
  ['gobuster', 'Gobuster, DirBuster, dirsearch, ffuf and feroxbuster', String.raw`\b(?:gobuster|dirbuster|dirsearch|feroxbuster|wfuzz|dirb|fuzz faster)\b`, 'gobuster/3.6'],
  ['acunetix', 'Acunetix', String.raw`acunetix|\bwvs\b`, 'Acunetix-Product'],
  ['nessus', 'Nessus', String.raw`\bnessus\b`, 'Nessus SOAP'],
  ['openvas', 'OpenVAS', String.raw`\bopenvas\b|greenbone`, 'Mozilla/5.0 [en] (X11, U; OpenVAS-VT 21.4)'],
  ['burp', 'Burp and ZAP', String.raw`\bburp(?:suite|collaborator)|owasp[ _-]?zap|\bzaproxy\b`, 'BurpSuite'],
  ['hydra', 'Hydra and Medusa', String.raw`\(hydra\)|\bmedusa\b/`, 'Mozilla/4.0 (Hydra)'],
  ['arachni', 'Arachni, w3af and Skipfish', String.raw`\b(?:arachni|w3af|skipfish)\b`, 'Arachni/v1.5'],
  ['commix', 'commix, XSStrike and jaeles', String.raw`\b(?:commix|xsstrike|jaeles|dalfox|havij|pangolin)\b`, 'commix/v3.9'],
  ['netsparker', 'Netsparker, AppScan and Qualys', String.raw`\b(?:netsparker|invicti|appscan|qualys|webinspect)\b`, 'Netsparker'],
];export const scanner: RuleFile = {
  category: 'scanner',
  model: {
    name: words('Scanner by structure', '結構像掃描', '结构像扫描'),
    description: words('The text is built like a probe of a scanner.', '文字的結構像掃描器的探測。', '文本的结构像扫描器的探测。'),
  },
  rules: [
    ...scannerNames.map(([id, title, pattern, hit]) => ({
      id: `scanner-${id}`, severity: 'critical' as const, paranoia: 1 as const, targets: agents, references: [], pattern,
      hits: [hit], misses: ['Mozilla/5.0 (X11; Linux x86_64) Firefox/130.0'],
      name: words(`Scanner: ${title}`, `掃描器：${title}`, `扫描器：${title}`),
      description: words(`Requests of ${title}.`, `${title} 發出的請求。`, `${title} 发出的请求。`),
    })),
    { id: 'scanner-script-clients', severity: 'critical', paranoia: 3, targets: agents, references: [],
      pattern: String.raw`^(?:python-requests|go-http-client|libwww-perl|java/|okhttp|curl/|wget/|scrapy|httpclient)`, hits: ['python-requests/2.31'], misses: ['Mozilla/5.0 curl'],
      name: words('Library instead of a browser', '程式庫而非瀏覽器', '程序库而非浏览器'), description: words('HTTP libraries. Many honest programs use them, so only at high levels.', 'HTTP 程式庫；許多正當程式也使用，因此僅在高等級啟用。', 'HTTP 程序库；许多正当程序也使用，因此仅在高级别启用。') },
    { id: 'scanner-test-values', severity: 'critical', paranoia: 1, targets: values, references: [],
      pattern: String.raw`\bacunetix[_-]?wvs|\bacux\d{4}|\bnetsparker\(|\bappscan[_-]|\bw00tw00t\b|\bsqlmap[_-]?test|\bnessus\w{0,6}test`, hits: ['acunetix_wvs_security_test', '/w00tw00t.at.isc'], misses: ['a test value'],
      name: words('Test value of a scanner', '掃描器測試值', '扫描器测试值'), description: words('Texts by which scanners recognise their own requests.', '掃描器用來辨識自身請求的文字。', '扫描器用来识别自身请求的文本。') },
  ],
};
