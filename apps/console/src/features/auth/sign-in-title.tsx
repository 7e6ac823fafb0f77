import { useEffect } from 'react';
import { useProductName } from '../../components/frame/brand.tsx';
import classes from './auth.module.css';

/** Heading and document title of a page outside the frame. */
export function SignInTitle({ text }: { text: string }) {
  const product = useProductName();
  useEffect(() => {
    document.title = `${text} · ${product}`;
  }, [text, product]);
  return <h1 className={classes['title']}>{text}</h1>;
}
