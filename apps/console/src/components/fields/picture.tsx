import { useEffect, useRef, useState } from 'react';
import { useT } from '../../lib/i18n.ts';
import classes from './fields.module.css';

interface PictureProps {
  /** Where it is served, or a file that was just chosen. */
  of: string | File;
  className?: string;
}

/** Drawn on a canvas while it is a file: an address made for it would need an exception in the content security policy. */
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
  // Browsers draw no vector file this way.
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
