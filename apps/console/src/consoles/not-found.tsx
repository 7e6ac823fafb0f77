import { useEffect } from 'react';
import { useProductName } from '../components/frame/brand.tsx';
import { Page } from '../components/page/page.tsx';
import { NotFoundText } from './not-found-text.tsx';
import classes from './not-found.module.css';

/** Without the frame: not signed in, or outside of any console. */
export function NotFound() {
  const product = useProductName();
  useEffect(() => {
    document.title = `404 · ${product}`;
  }, [product]);
  return (
    <main className={classes['alone']}>
      <h1 className={classes['code']}>404</h1>
      <NotFoundText />
    </main>
  );
}

export function NotFoundInside() {
  return (
    <Page title="app.notFound.title">
      <NotFoundText />
    </Page>
  );
}
