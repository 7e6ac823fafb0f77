/** The logo: three warp and three weft threads. The weft has the console's colour. */
export function Mark({ size = 20 }: { size?: number }) {
  return (
    <svg viewBox="0 0 22 22" width={size} height={size} aria-hidden focusable="false">
      <g fill="var(--el-text)">
        <path d="M9.5 0h3v1.7h-3zM9.5 6.3h3v9.4h-3zM9.5 20.3h3V22h-3z" />
        <path d="M3 0h3v8.7H3zM3 13.3h3V22H3zM16 0h3v8.7h-3zM16 13.3h3V22h-3z" />
      </g>
      <g fill="var(--el-thread)">
        <path d="M0 2.5h2.2v3H0zM6.8 2.5h8.4v3H6.8zM19.8 2.5H22v3h-2.2z" />
        <path d="M0 9.5h8.7v3H0zM13.3 9.5H22v3h-8.7z" />
        <path d="M0 16.5h2.2v3H0zM6.8 16.5h8.4v3H6.8zM19.8 16.5H22v3h-2.2z" />
      </g>
    </svg>
  );
}
