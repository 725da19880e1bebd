import { createPublicKey, hash, type JsonWebKey, type KeyObject } from 'node:crypto'
import { z } from 'zod'
import { parsedJson } from '../../kernel/json-values.ts'
import { StatementFault } from './statement-fault.ts'

/** Ed25519 public keys by keyid. */
export type PublicKeys = ReadonlyMap<string, KeyObject>

/** Private JWKs (with `d`) are refused: a strict object has no such field. */
const jwk = z.strictObject({
  kty: z.literal('OKP'),
  crv: z.literal('Ed25519'),
  x: z.string().length(43),
  kid: z.string().optional(),
  use: z.literal('sig').optional(),
  alg: z.enum(['EdDSA', 'Ed25519']).optional(),
})
const jwks = z.strictObject({ keys: z.array(jwk).min(1).max(100) })

/** Returns the keyid of a key: SHA-256 of the DER form of its SPKI, in hex. */
export function readKeyId(key: KeyObject): string {
  const open = key.type === 'private' ? createPublicKey(key) : key
  return hash('sha256', open.export({ type: 'spki', format: 'der' }))
}

/** Returns the JSON Web Key Set (RFC 7517, RFC 8037) of public keys. */
export function toJwks(keys: readonly KeyObject[]): { keys: JsonWebKey[] } {
  return {
    keys: keys.map((key) => {
      const open = key.type === 'private' ? createPublicKey(key) : key
      const { kty, crv, x } = open.export({ format: 'jwk' })
      return { kty, crv, x, kid: readKeyId(key), use: 'sig' } as JsonWebKey
    }),
  }
}

/** Reads one public key in PEM, or a JWKS. Throws a StatementFault for anything else. */
export function readPublicKeys(text: string): PublicKeys {
  const keys = text.trimStart().startsWith('{') ? readJwks(text) : [readPem(text)]
  return new Map(keys.map((key) => [readKeyId(key), key]))
}

function readPem(text: string): KeyObject {
  if (!text.trimStart().startsWith('-----BEGIN PUBLIC KEY-----')) {
    throw badKeys('expected a JWKS, or PEM that begins with BEGIN PUBLIC KEY')
  }
  return ed25519Key(() => createPublicKey(text))
}

function readJwks(text: string): KeyObject[] {
  const read = jwks.safeParse(parsedJson(text))
  if (!read.success) throw badKeys('expected a JWKS with public keys: kty OKP, crv Ed25519, x')
  return read.data.keys.map(({ kid, kty, crv, x }) => {
    const key = ed25519Key(() => createPublicKey({ key: { kty, crv, x }, format: 'jwk' }))
    if (kid === undefined || kid === readKeyId(key)) return key
    throw badKeys('kid: expected the SHA-256 of the SPKI of the key, in hex')
  })
}

function ed25519Key(read: () => KeyObject): KeyObject {
  let key: KeyObject | undefined
  try {
    key = read()
  } catch {
    throw badKeys('expected a public key that can be decoded')
  }
  if (key.asymmetricKeyType === 'ed25519') return key
  throw badKeys('expected an Ed25519 key')
}

function badKeys(message: string): StatementFault {
  return new StatementFault('bad_keys', message)
}
