// The texts of our mails, plain and HTML. User input is escaped.
import type { Language } from '@edgeloom/contract/auth/auth.ts';
import type { Message } from './transport.ts';

/** The mails and their variables. */
export interface Letters {
  code: { code: string };
  invitation: { link: string };
  reset: { link: string };
  newDevice: { device: string; address: string; at: string };
  passwordChanged: { address: string };
  authenticatorOn: { address: string };
  authenticatorOff: { address: string };
  recoveryUsed: { address: string };
  passkeyAdded: { name: string; address: string };
  passkeyRemoved: { name: string; address: string };
  mailTest: { host: string };
  certificateEnds: { name: string; site: string; at: string; days: string };
  siteEnds: { site: string; at: string; days: string };
  sitesEnd: { count: string; sites: string };
  trafficWarning: { products: string };
  trafficUsedUp: { products: string };
  trafficLimited: { products: string };
  trafficLimitedUntilPackage: { products: string };
  trafficLimitedThenBilled: { products: string };
  trafficPackagesEnded: { products: string };
}
export type LetterName = keyof Letters;

interface Words {
  subject: string;
  /** `{code}` and `{link}` on their own line become a large code and a button. */
  lines: readonly string[];
  /** The button's label. */
  button?: string;
}

const en: Record<LetterName, Words> = {
  code: {
    subject: 'Your sign-in code',
    lines: [
      'This is your sign-in code. It is good for 10 minutes.',
      '{code}',
      'If you did not sign in, change your password.',
    ],
  },
  invitation: {
    subject: 'Your new account',
    lines: ['An account was made for you. Choose a password within 24 hours.', '{link}'],
    button: 'Choose a password',
  },
  reset: {
    subject: 'A new password',
    lines: ['Choose a new password within an hour.', '{link}', 'If you did not ask for this, nothing has to be done.'],
    button: 'Choose a new password',
  },
  newDevice: {
    subject: 'A sign-in from a new device or address',
    lines: ['You were signed in at {at} (UTC) from {address}.', '{device}', 'If it was not you, change your password.'],
  },
  passwordChanged: {
    subject: 'Your password was changed',
    lines: [
      'Your password was changed from {address}. All other devices were signed out.',
      'If it was not you, ask for a new password at once.',
    ],
  },
  authenticatorOn: {
    subject: 'Your authenticator was set up',
    lines: [
      'From now on signing in asks for a code of your authenticator. It was set up from {address}.',
      'If it was not you, tell your administrator at once.',
    ],
  },
  authenticatorOff: {
    subject: 'Your authenticator was turned off',
    lines: [
      'Signing in no longer asks for a code of your authenticator. It was turned off from {address}.',
      'If it was not you, change your password at once.',
    ],
  },
  recoveryUsed: {
    subject: 'A recovery code was used',
    lines: [
      'One of your recovery codes was used from {address}. It is not good any more.',
      'If it was not you, change your password at once.',
    ],
  },
  passkeyAdded: {
    subject: 'A passkey was added',
    lines: [
      'The passkey {name} was added from {address}. It signs in to your account.',
      'If it was not you, remove it and change your password.',
    ],
  },
  passkeyRemoved: {
    subject: 'A passkey was removed',
    lines: ['The passkey {name} was removed from {address}.', 'If it was not you, change your password at once.'],
  },
  mailTest: {
    subject: 'A test of your mail server',
    lines: ['This mail left by {host}. The settings work; save them to use them.'],
  },
  certificateEnds: {
    subject: 'A certificate ends soon',
    lines: [
      'The certificate {name} of the site {site} ends at {at} (UTC), in {days} days. Visitors of its domains will be warned from then on.',
      'Bring a new one, or look in the console why it could not be renewed.',
    ],
  },
  siteEnds: {
    subject: 'A site expires soon',
    lines: [
      'The site {site} expires at {at} (UTC), in {days} days. From then on its visitors get an error page.',
      'Its settings are kept. A later expiry puts the site back into service.',
    ],
  },
  sitesEnd: {
    subject: 'Sites expire soon',
    lines: [
      '{count} sites expire soon. From then on their visitors get an error page. Times are in UTC.',
      '{sites}',
      'Their settings are kept. A later expiry puts a site back into service.',
    ],
  },
  trafficWarning: {
    subject: '80 % of your traffic is used',
    lines: [
      'At least 80 % of the traffic packages for {products} is used this month.',
      'The console shows what is left. Your provider can add a package.',
    ],
  },
  trafficUsedUp: {
    subject: 'Your traffic is used up',
    lines: [
      'The traffic packages for {products} are used up. Your sites stay online, and further traffic is billed by the GB.',
      'Your provider can add a package.',
    ],
  },
  trafficLimited: {
    subject: 'Your sites are offline: no traffic left',
    lines: [
      'The traffic packages for {products} are used up or have ended, so the sites of these products are offline.',
      'They come back within a minute of a new package, or when the next month begins.',
    ],
  },
  trafficLimitedUntilPackage: {
    subject: 'Your sites are offline: no traffic left',
    lines: [
      'The traffic packages for {products} are used up, so the sites of these products are offline.',
      'They come back within a minute of a new package. Ask your provider for one.',
    ],
  },
  trafficLimitedThenBilled: {
    subject: 'Your sites are offline: no traffic left',
    lines: [
      'The traffic packages for {products} are used up or have ended, so the sites of these products are offline.',
      'They come back within a minute of a new package, or when the next month begins. From then on, without a package, their traffic is billed by the GB and not limited.',
      'Your provider can add a package.',
    ],
  },
  trafficPackagesEnded: {
    subject: 'Your traffic packages have ended',
    lines: [
      'The traffic packages for {products} have ended. Your sites are online. Without a package, their traffic is billed by the GB and not limited.',
      'Your provider can add a package.',
    ],
  },
};

const zhTW: Record<LetterName, Words> = {
  code: {
    subject: '登入驗證碼',
    lines: ['這是您的登入驗證碼，10 分鐘內有效。', '{code}', '如果不是您本人登入，請變更密碼。'],
  },
  invitation: {
    subject: '您的新帳號',
    lines: ['已為您建立帳號，請在 24 小時內設定密碼。', '{link}'],
    button: '設定密碼',
  },
  reset: {
    subject: '設定新密碼',
    lines: ['請在一小時內設定新密碼。', '{link}', '如果不是您本人申請，不需要做任何事。'],
    button: '設定新密碼',
  },
  newDevice: {
    subject: '有新的裝置或位址登入',
    lines: ['您的帳號於 {at}（UTC）從 {address} 登入。', '{device}', '如果不是您本人，請變更密碼。'],
  },
  passwordChanged: {
    subject: '密碼已變更',
    lines: ['您的密碼已從 {address} 變更，其他裝置都已登出。', '如果不是您本人，請立刻重設密碼。'],
  },
  authenticatorOn: {
    subject: '已綁定驗證器',
    lines: ['從現在起，登入時會要求驗證器的驗證碼。設定來自 {address}。', '如果不是您本人，請立刻通知管理員。'],
  },
  authenticatorOff: {
    subject: '已停用驗證器',
    lines: ['登入時不再要求驗證器的驗證碼。停用來自 {address}。', '如果不是您本人，請立刻變更密碼。'],
  },
  recoveryUsed: {
    subject: '使用了一組復原碼',
    lines: ['有人從 {address} 使用了您的一組復原碼，該組已失效。', '如果不是您本人，請立刻變更密碼。'],
  },
  passkeyAdded: {
    subject: '已新增通行金鑰',
    lines: ['通行金鑰 {name} 已從 {address} 新增，可用來登入您的帳號。', '如果不是您本人，請移除它並變更密碼。'],
  },
  passkeyRemoved: {
    subject: '已移除通行金鑰',
    lines: ['通行金鑰 {name} 已從 {address} 移除。', '如果不是您本人，請立刻變更密碼。'],
  },
  mailTest: {
    subject: '郵件伺服器測試',
    lines: ['這封郵件由 {host} 寄出。設定可以使用，儲存後生效。'],
  },
  certificateEnds: {
    subject: '憑證即將到期',
    lines: [
      '站點 {site} 的憑證 {name} 將於 {at}（UTC，{days} 天後）到期，屆時訪客會看到警告。',
      '請更換憑證，或在主控台查看續期失敗的原因。',
    ],
  },
  siteEnds: {
    subject: '站點即將到期',
    lines: [
      '站點 {site} 將於 {at}（UTC，{days} 天後）到期，屆時訪客會看到錯誤頁。',
      '站點的設定會保留，延後到期時間即可恢復服務。',
    ],
  },
  sitesEnd: {
    subject: '多個站點即將到期',
    lines: [
      '有 {count} 個站點即將到期，到期後訪客會看到錯誤頁。以下時間為 UTC。',
      '{sites}',
      '站點的設定會保留，延後到期時間即可恢復服務。',
    ],
  },
  trafficWarning: {
    subject: '流量已使用 80%',
    lines: ['{products} 的流量包本月已使用 80% 以上。', '您可以在主控台查看剩餘流量，或請服務商加購流量包。'],
  },
  trafficUsedUp: {
    subject: '流量已用完',
    lines: ['{products} 的流量包已用完。站點仍正常服務，超出的流量將按 GB 計費。', '您可以請服務商加購流量包。'],
  },
  trafficLimited: {
    subject: '沒有剩餘流量，站點已停止服務',
    lines: [
      '{products} 的流量包已用完或已到期，使用這些產品的站點已停止服務。',
      '加購流量包後一分鐘內，或下個月開始時，站點會恢復服務。',
    ],
  },
  trafficLimitedUntilPackage: {
    subject: '沒有剩餘流量，站點已停止服務',
    lines: [
      '{products} 的流量包已用完，使用這些產品的站點已停止服務。',
      '請向服務商加購流量包，加購後一分鐘內站點會恢復服務。',
    ],
  },
  trafficLimitedThenBilled: {
    subject: '沒有剩餘流量，站點已停止服務',
    lines: [
      '{products} 的流量包已用完或已到期，使用這些產品的站點已停止服務。',
      '加購流量包後一分鐘內，或下個月開始時，站點會恢復服務。若屆時仍沒有流量包，流量將按 GB 計費，且不設上限。',
      '您可以請服務商加購流量包。',
    ],
  },
  trafficPackagesEnded: {
    subject: '流量包已到期',
    lines: [
      '{products} 的流量包已到期。站點正常服務；沒有流量包時，流量按 GB 計費，且不設上限。',
      '您可以請服務商加購流量包。',
    ],
  },
};

const zhCN: Record<LetterName, Words> = {
  code: {
    subject: '登录验证码',
    lines: ['这是您的登录验证码，10 分钟内有效。', '{code}', '如果不是您本人登录，请更改密码。'],
  },
  invitation: {
    subject: '您的新账号',
    lines: ['已为您创建账号，请在 24 小时内设置密码。', '{link}'],
    button: '设置密码',
  },
  reset: {
    subject: '设置新密码',
    lines: ['请在一小时内设置新密码。', '{link}', '如果不是您本人申请，不需要做任何事。'],
    button: '设置新密码',
  },
  newDevice: {
    subject: '有新的设备或地址登录',
    lines: ['您的账号于 {at}（UTC）从 {address} 登录。', '{device}', '如果不是您本人，请更改密码。'],
  },
  passwordChanged: {
    subject: '密码已更改',
    lines: ['您的密码已从 {address} 更改，其他设备都已登出。', '如果不是您本人，请立刻重设密码。'],
  },
  authenticatorOn: {
    subject: '已绑定验证器',
    lines: ['从现在起，登录时会要求验证器的验证码。设置来自 {address}。', '如果不是您本人，请立刻通知管理员。'],
  },
  authenticatorOff: {
    subject: '已停用验证器',
    lines: ['登录时不再要求验证器的验证码。停用来自 {address}。', '如果不是您本人，请立刻更改密码。'],
  },
  recoveryUsed: {
    subject: '使用了一组恢复码',
    lines: ['有人从 {address} 使用了您的一组恢复码，该组已失效。', '如果不是您本人，请立刻更改密码。'],
  },
  passkeyAdded: {
    subject: '已新增通行密钥',
    lines: ['通行密钥 {name} 已从 {address} 新增，可用来登录您的账号。', '如果不是您本人，请移除它并更改密码。'],
  },
  passkeyRemoved: {
    subject: '已移除通行密钥',
    lines: ['通行密钥 {name} 已从 {address} 移除。', '如果不是您本人，请立刻更改密码。'],
  },
  mailTest: {
    subject: '邮件服务器测试',
    lines: ['这封邮件由 {host} 寄出。设置可以使用，保存后生效。'],
  },
  certificateEnds: {
    subject: '证书即将到期',
    lines: [
      '站点 {site} 的证书 {name} 将于 {at}（UTC，{days} 天后）到期，届时访客会看到警告。',
      '请更换证书，或在控制台查看续期失败的原因。',
    ],
  },
  siteEnds: {
    subject: '站点即将到期',
    lines: [
      '站点 {site} 将于 {at}（UTC，{days} 天后）到期，届时访客会看到错误页。',
      '站点的设置会保留，延后到期时间即可恢复服务。',
    ],
  },
  sitesEnd: {
    subject: '多个站点即将到期',
    lines: [
      '有 {count} 个站点即将到期，到期后访客会看到错误页。以下时间为 UTC。',
      '{sites}',
      '站点的设置会保留，延后到期时间即可恢复服务。',
    ],
  },
  trafficWarning: {
    subject: '流量已使用 80%',
    lines: ['{products} 的流量包本月已使用 80% 以上。', '您可以在控制台查看剩余流量，或请服务商加购流量包。'],
  },
  trafficUsedUp: {
    subject: '流量已用完',
    lines: ['{products} 的流量包已用完。站点仍正常服务，超出的流量将按 GB 计费。', '您可以请服务商加购流量包。'],
  },
  trafficLimited: {
    subject: '没有剩余流量，站点已停止服务',
    lines: [
      '{products} 的流量包已用完或已到期，使用这些产品的站点已停止服务。',
      '加购流量包后一分钟内，或下个月开始时，站点会恢复服务。',
    ],
  },
  trafficLimitedUntilPackage: {
    subject: '没有剩余流量，站点已停止服务',
    lines: [
      '{products} 的流量包已用完，使用这些产品的站点已停止服务。',
      '请向服务商加购流量包，加购后一分钟内站点会恢复服务。',
    ],
  },
  trafficLimitedThenBilled: {
    subject: '没有剩余流量，站点已停止服务',
    lines: [
      '{products} 的流量包已用完或已到期，使用这些产品的站点已停止服务。',
      '加购流量包后一分钟内，或下个月开始时，站点会恢复服务。若届时仍没有流量包，流量将按 GB 计费，且不设上限。',
      '您可以请服务商加购流量包。',
    ],
  },
  trafficPackagesEnded: {
    subject: '流量包已到期',
    lines: [
      '{products} 的流量包已到期。站点正常服务；没有流量包时，流量按 GB 计费，且不设上限。',
      '您可以请服务商加购流量包。',
    ],
  },
};

export const words: Record<Language, Record<LetterName, Words>> = { en, 'zh-TW': zhTW, 'zh-CN': zhCN };

/** Renders a mail in the recipient's language, English by default. */
export function write<Name extends LetterName>(
  to: string,
  language: string,
  name: Name,
  values: Letters[Name],
): Message {
  const { subject, lines, button = '' } = (language === 'zh-TW' || language === 'zh-CN' ? words[language] : en)[name];
  const known = new Map<string, string>(Object.entries(values));
  const filled = (line: string, made: (value: string) => string) =>
    line.replace(/\{(\w+)\}/g, (_, key: string) => made(known.get(key) ?? ''));
  const paragraph = (line: string) => {
    if (line === '{link}') return linked(known.get('link') ?? '', button);
    if (line === '{code}') return `<p style="font:600 28px monospace;letter-spacing:6px">${filled(line, escaped)}</p>`;
    return `<p>${filled(line, escaped)}</p>`;
  };
  return {
    to,
    subject,
    text: `${lines.map((line) => filled(line, oneLine)).join('\n\n')}\n`,
    html: `<!doctype html><html lang="${language}"><meta charset="utf-8"><body style="font:16px/1.5 sans-serif;max-width:560px">${lines.map(paragraph).join('')}</body></html>`,
  };
}

const escaped = (text: string) => text.replace(/[&<>"']/g, (char) => `&#${char.charCodeAt(0)};`);
/** Device names are untrusted and must stay within a line. */
const oneLine = (text: string) => text.replace(/\p{Cc}+/gu, ' ');
const linked = (url: string, button: string) =>
  `<p><a href="${escaped(url)}" style="display:inline-block;padding:10px 18px;background:#1f4e79;color:#fff">${escaped(button)}</a></p><p>${escaped(url)}</p>`;
