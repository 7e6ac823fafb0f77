// Attacks beside letters that are not ASCII, which look ordinary to the model, and honest texts with such letters.
import { afterAll, expect, test } from 'vitest';
import { startWafEngine, type WafRequest } from '../support/services/waf-engine.ts';

const engine = await startWafEngine();
afterAll(() => engine.stop());

const utf8 = (text: string) => Buffer.from(text).toString('latin1');
const encoded = (text: string) => encodeURIComponent(text);
const inQuery = (text: string): WafRequest => ({ target: `/?q=${encoded(text)}`, headers: [], body: '' });
const inBody = (type: string, body: string): WafRequest => ({
  target: '/',
  headers: [['Content-Type', type]],
  body: utf8(body),
});
const ways: [where: string, request: (text: string) => WafRequest][] = [
  ['a query', inQuery],
  ['a form', (text) => inBody('application/x-www-form-urlencoded', `q=${encoded(text)}`)],
  ['JSON', (text) => inBody('application/json', JSON.stringify({ q: text }))],
  ['a text', (text) => inBody('text/plain', text)],
  ['a cookie', (text) => ({ target: '/', headers: [['Cookie', `q=${encoded(text)}`]], body: '' })],
  ['base64', (text) => inQuery(Buffer.from(`${text} `.padEnd(60)).toString('base64'))],
];

const attacks = [
  "你' union all select name from users#你",
  "你' or '1'='1",
  "你' or '你'='你",
  '你 union all select name from users 你',
  "я' union all select name from users -- я",
  "é' or 1=1 -- é",
  "你'/**/union/**/all/**/select/**/name/**/from/**/users#你",
];

test.each(ways)('an SQL injection between letters that are not ASCII is found in %s', async (_where, request) => {
  const verdicts = await engine.judge(attacks.map(request));
  const rules = Object.fromEntries(attacks.map((text, i) => [text, verdicts[i]?.rule ?? 'passed']));
  const found = expect.stringMatching(/^sqli-/);
  expect(rules).toEqual(Object.fromEntries(attacks.map((text) => [text, found])));
});

test.each([
  ['bytes that are no UTF-8', `%80' union all select name from users%23%80`],
  [
    'bytes that are no UTF-8, and many of them',
    `${encoded('你你你你')}"%01 union all select name from users${'%FF'.repeat(900)}`,
  ],
])('an SQL injection beside %s is found', async (_what, value) => {
  const [found] = await engine.judge([{ target: `/?q=${value}`, headers: [], body: '' }]);
  expect(found?.rule).toMatch(/^sqli-/);
});

test('strings of JSON with other letters hide no SQL injection behind comments', async () => {
  const words = ['你/*', '*/union/*', '*/all/*', '*/select/*', '*/password/*', '*/from/*', '*/users# 你'];
  const [found] = await engine.judge([inQuery(JSON.stringify(words))]);
  expect(found?.rule).toMatch(/^sqli-/);
});

test('an SQL injection in the middle of a long text of other letters is found', async () => {
  const text = `${'你'.repeat(3000)}' union all select name from users#${'你'.repeat(3000)}`;
  const verdicts = await engine.judge(ways.slice(0, 3).map(([, request]) => request(text)));
  expect(verdicts.map(({ rule }) => rule)).toEqual(Array(3).fill('sqli-union-select'));
});

const honest = [
  '如何在 MySQL 中使用 UNION 查詢？先看 SELECT 的結果，再比較。',
  '請用 UNION 把兩個 SELECT 合併，或者用 JOIN。',
  "「他說：'你好' or '再見'」；\"不要\"（等我）＝好",
  "L'été, j'ai lu « C'est la vie » et l'œuvre d'Hugo -- à suivre",
  "WHERE 條件要加引號，例如 name = '小明'，不要用 OR。",
  'SQL注入攻擊是什麼？如何防止 SQL injection？',
  '日本語の\'引用符\'と"二重引用符"、SELECT文とUNIONの違い',
  "ユーザー名は 'admin' です。パスワードを忘れた場合は ; を入力",
  'Выберите \'SELECT\' или "UNION", чтобы объединить таблицы; затем удалите (DELETE) лишнее',
  'объединение UNION и выборка SELECT: \'пример\' = "образец"',
  '한국어 텍스트: "UNION" 과 \'SELECT\' 를 사용합니다',
  '價格 = 100；數量 > 5；折扣 <= 20%；總計：(100*5)-20',
  'select 一個選項 from 選單，然後 update 設定',
  '<你好> 與 {{名稱}} 以及 `指令`、$變數、C:\\資料夾\\檔案',
  "張三's 店 & 李四's 店 -- 2026/11/29 #1",
  '如果 a=1 or b=2，則 1=1 為真',
];
test.each(ways)('honest texts with quotes and words of SQL pass in %s', async (_where, request) => {
  const verdicts = await engine.judge(honest.map(request));
  expect(honest.filter((_, i) => verdicts[i]?.rule !== undefined)).toEqual([]);
});
