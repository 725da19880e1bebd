import { calculateJwkThumbprint, exportJWK, exportPKCS8, generateKeyPair } from 'jose'
import { openPrivateKey, sealPrivateKey } from './seal-private-key.ts'
import type { Rotation, SigningKeyRow } from './store.ts'

/** When keys come and go. */
export type RotationRules = {
  /** Age at which a key gets a successor. */
  rotate_after_ms: number
  /** How long a successor is published before it signs: longer than anybody caches the key set. */
  publish_before_ms: number
  /** The longest life of a token: so much longer is the old key kept, to check what it signed. */
  token_ttl_ms: number
}

/**
 * Whether a key signs now. The last stretch before it retires is for checking only. A key made by a
 * pod whose clock is ahead signs at once here too.
 */
export function maySign(
  row: Pick<SigningKeyRow, 'activates_at' | 'retires_at'>,
  now_ms: number,
  { token_ttl_ms }: RotationRules,
): boolean {
  if (Date.parse(row.activates_at) > now_ms + skew_ms) return false
  return row.retires_at === null || Date.parse(row.retires_at) - token_ttl_ms - skew_ms > now_ms
}

/** Clocks of pods may differ by so much. */
const skew_ms = 60_000

/**
 * Decides on the stored keys (the one that activates last first): the first key signs at once, a
 * later one is published first, and undefined means that nothing is due. A key that our secret does
 * not open was made with another secret; it is left for its owners until it is twice as old as keys get.
 */
export async function decideRotation(
  rows: readonly SigningKeyRow[],
  about: { now: Date; secret_key: string; rules: RotationRules },
): Promise<Rotation | undefined> {
  const { now, rules, secret_key } = about
  const now_ms = now.getTime()
  const ours = rows.filter(
    ({ id: kid, private_key_encrypted }) =>
      openPrivateKey(private_key_encrypted, { secret_key, kid }) !== undefined,
  )
  const someSigns = ours.some((row) => maySign(row, now_ms, rules))
  const newest = ours.find(({ retires_at }) => retires_at === null)
  const newest_ms = newest === undefined ? 0 : Date.parse(newest.activates_at)
  if (someSigns && newest_ms > now_ms - rules.rotate_after_ms) return undefined
  const activates_ms = someSigns ? now_ms + rules.publish_before_ms : now_ms
  const abandoned = (row: SigningKeyRow) =>
    Date.parse(row.activates_at) < now_ms - 2 * rules.rotate_after_ms
  const retired = rows.filter((row) => ours.includes(row) || abandoned(row))
  return {
    add: {
      ...(await newSigningKey(secret_key)),
      created_at: now,
      activates_at: new Date(activates_ms),
    },
    retire: {
      ids: retired.map(({ id }) => id),
      at: new Date(activates_ms + rules.token_ttl_ms + skew_ms),
    },
  }
}

async function newSigningKey(secret_key: string) {
  const pair = await generateKeyPair('EdDSA', { extractable: true })
  const jwk = await exportJWK(pair.publicKey)
  const kid = await calculateJwkThumbprint(jwk)
  const pkcs8 = Buffer.from(await exportPKCS8(pair.privateKey))
  return {
    id: kid,
    public_jwk: { ...jwk, kid, alg: 'EdDSA', use: 'sig' },
    private_key_encrypted: sealPrivateKey(pkcs8, { secret_key, kid }),
  }
}
