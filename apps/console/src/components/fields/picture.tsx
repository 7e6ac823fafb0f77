import { useEffect, useRef, useState } from 'react';
import { useT } from '../../lib/i18n.ts';
import classes from './fields.module.css';

interface PictureProps {
  /** A URL or a selected file. */
  of: string | File;
  className?: string;
}

/** A file is drawn on a canvas, because the CSP blocks blob URLs. */
export function Picture({ of, className = '' }: PictureProps) {
  return typeof of === 'string' ? (
    <img src={of} alt="" className={className} />
  ) : (
    <Drawn file={of} className={className} />
  );
}

function Drawn({ file, className }: { file: File; className: string }) {
  const t = useT();
  const canvas = useRef<HTMLCanvasElement>(null);
  // Browsers cannot draw SVG files this way.
  const [failed, setFailed] = useState<File | null>(null);
  useEffect(() => {
    let gone = false;
    const draw = async () => {
      const bitmap = await createImageBitmap(file).catch(() => null);
      const target = canvas.current;
      if (gone || !target) return;
      if (!bitmap) return setFailed(file);
      target.width = bitmap.width;
      target.height = bitmap.height;
      target.getContext('2d')?.drawImage(bitmap, 0, 0);
      bitmap.close();
    };
    void draw();
    return () => {
      gone = true;
    };
  }, [file]);
  if (failed === file) return <span className={classes['unseen']}>{t('common.form.seenWhenSaved')}</span>;
  return <canvas ref={canvas} className={className} />;
}
