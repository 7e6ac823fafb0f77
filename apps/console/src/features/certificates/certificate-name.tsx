import classes from './certificates.module.css';

interface CertificateNameProps {
  of: { sslName: string; names: readonly string[] };
  onOpen: () => void;
}

/** Name of the certificate and its other names. */
export function CertificateName({ of: { sslName, names }, onOpen }: CertificateNameProps) {
  const [first = '', ...more] = names;
  return (
    <span className={classes['named']}>
      <button type="button" className={classes['open']} onClick={onOpen}>
        {sslName}
      </button>
      {first !== sslName && <small>{first}</small>}
      {more.length > 0 && <small>+{more.length}</small>}
    </span>
  );
}
