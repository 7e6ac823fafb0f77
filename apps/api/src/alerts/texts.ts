// The text of alerts in chats: one line for each kind and phase.
import { AlertKind, alertKinds } from '@edgeloom/contract/alerts/alerts.ts';
import type { Language } from '@edgeloom/contract/auth/auth.ts';
import type { AlertEvent } from '@edgeloom/contract/webhooks/webhooks.ts';

interface Words {
  kinds: Readonly<Record<AlertKind, string>>;
  ended: (title: string) => string;
  more: (count: number) => string;
  withSite: (name: string, site: string) => string;
  separator: string;
  colon: string;
  test: string;
}

const en: Words = {
  kinds: {
    nodesRejected: 'Configuration rejected by node',
    nodesOffline: 'Node offline',
    nodesFailingMonitors: 'Node failing its monitors',
    sitesUnpublished: 'Change could not be published',
    cnameInactive: 'CNAME not active',
    certificatesFailed: 'Certificate could not be issued',
    rolloutsStopped: 'Rollout stopped',
    nodesDisconnected: 'Node disconnected, still serving visitors',
    monitorsOffline: 'Monitor node offline',
    nodesLosingLogs: 'Node lost access log lines',
    certificatesEnding: 'Certificate expires within 14 days or has expired',
  },
  ended: (title) => `Ended: ${title}`,
  more: (count) => ` and ${count} more`,
  withSite: (name, site) => `${name} (site ${site})`,
  separator: ', ',
  colon: ': ',
  test: 'This is a test. Alerts will be sent to this chat.',
};
const zhTW: Words = {
  kinds: {
    nodesRejected: '節點拒絕設定',
    nodesOffline: '節點離線',
    nodesFailingMonitors: '節點監控異常',
    sitesUnpublished: '變更無法發布',
    cnameInactive: 'CNAME 未生效',
    certificatesFailed: '憑證申請失敗',
    rolloutsStopped: '發布已停止',
    nodesDisconnected: '節點連線中斷，仍在服務訪客',
    monitorsOffline: '監控節點離線',
    nodesLosingLogs: '節點遺失存取日誌',
    certificatesEnding: '憑證將於 14 天內到期或已到期',
  },
  ended: (title) => `已解除：${title}`,
  more: (count) => `，以及其他 ${count} 項`,
  withSite: (name, site) => `${name}（站點 ${site}）`,
  separator: '、',
  colon: '：',
  test: '這是測試訊息。告警將傳送到這個聊天室。',
};
const zhCN: Words = {
  kinds: {
    nodesRejected: '节点拒绝配置',
    nodesOffline: '节点离线',
    nodesFailingMonitors: '节点监控异常',
    sitesUnpublished: '更改无法发布',
    cnameInactive: 'CNAME 未生效',
    certificatesFailed: '证书申请失败',
    rolloutsStopped: '发布已停止',
    nodesDisconnected: '节点连接中断，仍在服务访客',
    monitorsOffline: '监控节点离线',
    nodesLosingLogs: '节点丢失访问日志',
    certificatesEnding: '证书将在 14 天内到期或已到期',
  },
  ended: (title) => `已解除：${title}`,
  more: (count) => `，以及其他 ${count} 项`,
  withSite: (name, site) => `${name}（站点 ${site}）`,
  separator: '、',
  colon: '：',
  test: '这是测试消息。告警将发送到此聊天。',
};
export const words: Readonly<Record<Language, Words>> = { en, 'zh-TW': zhTW, 'zh-CN': zhCN };
/** English by default. */
export const wordsIn = (language: string): Words =>
  language === 'zh-TW' || language === 'zh-CN' ? words[language] : en;

const MAX_NAMES = 20;
const icons = { critical: '🔴', warning: '🟠' } as const;

/** Critical ones first, and what began before what ended. */
export function alertText(events: readonly AlertEvent[], language: string): string {
  const text = wordsIn(language);
  const lines = (['began', 'ended'] as const).flatMap((phase) =>
    AlertKind.options
      .toSorted((a, b) => alertKinds[a].severity.localeCompare(alertKinds[b].severity))
      .flatMap((kind) => {
        const found = events.filter((event) => event.kind === kind && event.phase === phase);
        if (found.length === 0) return [];
        const title = text.kinds[kind];
        const head = phase === 'began' ? `${icons[alertKinds[kind].severity]} ${title}` : `🟢 ${text.ended(title)}`;
        return [`${head}${text.colon}${namesIn(found, text)}`];
      }),
  );
  return lines.join('\n');
}

function namesIn(events: readonly AlertEvent[], { more, separator, withSite }: Words): string {
  const names = events
    .slice(0, MAX_NAMES)
    .map(({ name, siteName }) => (siteName === null || siteName === name ? name : withSite(name, siteName)));
  const rest = events.length - names.length;
  return `${names.join(separator)}${rest === 0 ? '' : more(rest)}`;
}
