import { integer, secret } from '../setting.ts'

/** Settings of workers that certify releases. */
export const certificationSettings = {
  certification_key: secret({
    reason:
      'Ed25519 private key in PEM (PKCS #8) that signs the statements of release certifications. When unset, a key is generated once and kept in PostgreSQL, encrypted with `LOOPTRACE_SECRET_KEY`. After a change, earlier public keys stay in `/.well-known/looptrace-certification-keys.json`.',
  }),
  certification_tasks_max: integer({
    unit: 'tasks',
    default: 50_000,
    min: 100,
    max: 200_000,
    reason:
      'Maximum tasks, and maximum eval cases, that a certification reads of a release, and of its baseline. With more it is inconclusive.',
  }),
}
