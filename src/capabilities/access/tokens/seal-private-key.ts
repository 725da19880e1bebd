import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto'

/**
 * Encrypts a private key for the store with AES-256-GCM under a key derived (HKDF-SHA-256) from the
 * service's secret. The key id is authenticated data, so that rows can not be swapped.
 * Layout: version 1 (1 byte), nonce (12), tag (16), ciphertext.
 */
export function sealPrivateKey(plain: Buffer, about: { secret_key: string; kid: string }): Buffer {
  const nonce = randomBytes(nonceLength)
  const cipher = createCipheriv(algorithm, deriveKey(about.secret_key), nonce)
  cipher.setAAD(Buffer.from(about.kid))
  const sealed = Buffer.concat([cipher.update(plain), cipher.final()])
  return Buffer.concat([Buffer.from([version]), nonce, cipher.getAuthTag(), sealed])
}

/** Decrypts a result of `sealPrivateKey`; undefined for another secret or modified data. */
export function openPrivateKey(
  sealed: Buffer,
  about: { secret_key: string; kid: string },
): Buffer | undefined {
  if (sealed.length <= headLength || sealed[0] !== version) return undefined
  const nonce = sealed.subarray(1, 1 + nonceLength)
  const decipher = createDecipheriv(algorithm, deriveKey(about.secret_key), nonce, {
    authTagLength: tagLength,
  })
  decipher.setAAD(Buffer.from(about.kid))
  decipher.setAuthTag(sealed.subarray(1 + nonceLength, headLength))
  try {
    return Buffer.concat([decipher.update(sealed.subarray(headLength)), decipher.final()])
  } catch {
    return undefined
  }
}

const algorithm = 'aes-256-gcm'
const version = 1
const nonceLength = 12
const tagLength = 16
const headLength = 1 + nonceLength + tagLength

function deriveKey(secret_key: string): Buffer {
  return Buffer.from(hkdfSync('sha256', secret_key, '', 'looptrace signing keys, version 1', 32))
}
