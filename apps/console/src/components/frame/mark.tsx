/** Three warp and three weft threads; the weft has the console's own colour. */
export function Mark({ size = 20 }: { size?: number }) {
  return (
    <svg viewBox="0 0 18 18" width={size} height={size} aria-hidden style={{ flex: 'none' }}>
      <g fill="var(--el-thread)">
        <path d="M0 2.2h18v2.6H0zM0 7.7h18v2.6H0zM0 13.2h18v2.6H0z" />
      </g>
      <g fill="var(--el-text)">
        <path d="M2.2 0h2.6v1.6H2.2zM2.2 5.4h2.6v7.2H2.2zM2.2 16.4h2.6V18H2.2z" />
        <path d="M7.7 0h2.6v7.1H7.7zM7.7 10.9h2.6V18H7.7z" />
        <path d="M13.2 0h2.6v1.6h-2.6zM13.2 5.4h2.6v7.2h-2.6zM13.2 16.4h2.6V18h-2.6z" />
      </g>
    </svg>
  );
}
