import { words, type RuleFile } from '../rule.ts';

export const mail: RuleFile = {
  category: 'mail',
  model: {
    name: words('Header by structure', '結構像標頭注入', '结构像头字段注入'),
    description: words('The text is built like lines of a mail or a response.', '文字的結構像郵件或回應的標頭行。', '文本的结构像邮件或响应的头字段行。'),
  },
  rules: [
    { id: 'mail-headers', severity: 'critical', paranoia: 1, targets: ['query', 'form', 'path', 'cookie'], references: ['CWE-93'],
      pattern: String.raw`[\r\n]\s*(?:b?cc|to|from|subject|reply-to|content-type|mime-version|content-transfer-encoding)\s*:\s*\S`, hits: ['a@b.c\nbcc: x@y.z', 'x\r\ncontent-type: text/html'], misses: ['to: you', 'cc'],
      name: words('Mail header', '郵件標頭', '邮件头字段'), description: words('A line break and a header of a mail.', '換行後接郵件標頭。', '换行后接邮件头字段。') },
    { id: 'mail-response-splitting', severity: 'critical', paranoia: 1, targets: ['query', 'path', 'cookie', 'referer'], references: ['CWE-113'],
      pattern: String.raw`[\r\n]\s*(?:set-cookie|location|content-length|transfer-encoding|x-xss-protection|http/\d|access-control-allow-origin|refresh|link|host)\s*(?::|\.)`, hits: ['x\r\nset-cookie: a=b', '/\r\nlocation: http://x'], misses: ['set-cookie: a', 'location'],
      name: words('Response splitting', '回應分割', '响应拆分'), description: words('A line break and a header of a response.', '換行後接回應標頭。', '换行后接响应头字段。') },
    { id: 'mail-smtp', severity: 'critical', paranoia: 1, targets: ['query', 'form', 'cookie'], references: ['CWE-77'],
      pattern: String.raw`[\r\n]\s*(?:(?:mail\s+from|rcpt\s+to)\s*:|(?:ehlo|helo|vrfy|expn)\s+\S|data\s*[\r\n]|quit\s*$|\.\s*[\r\n])`, hits: ['x\r\nrcpt to: <a@b.c>', 'a\nhelo x'], misses: ['mail from: home', 'data'],
      name: words('SMTP command', 'SMTP 命令', 'SMTP 命令'), description: words('Commands of a mail server after a line break.', '換行後接郵件伺服器命令。', '换行后接邮件服务器命令。') },
    { id: 'mail-imap', severity: 'critical', paranoia: 1, targets: ['query', 'form', 'cookie'], references: ['CWE-77'],
      pattern: String.raw`[\r\n]\s*[a-z]{0,2}\d{1,4}\s+(?:login|logout|fetch|select|delete|create|capability|authenticate|lsub|store)\b|["'\s][\r\n]+\s*(?:retr|dele|uidl|stat|noop)\s*\d*`, hits: ['x\r\nv100 capability', '"\r\nretr 1'], misses: ['login 5', 'a1 select'],
      name: words('IMAP or POP command', 'IMAP 或 POP 命令', 'IMAP 或 POP 命令'), description: words('Commands of a mailbox after a line break.', '換行後接信箱命令。', '换行后接邮箱命令。') },
  ],
};
