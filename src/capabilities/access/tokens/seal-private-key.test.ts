import { expect, test } from 'vitest'
import { openPrivateKey, sealPrivateKey } from './seal-private-key.ts'

const about = { secret_key: 's'.repeat(32), kid: 'key-1' }
const plain = Buffer.from('a private key')
const sealed = sealPrivateKey(plain, about)

test('a sealed key opens with the same secret, and does not contain the plain text', () => {
  expect(openPrivateKey(sealed, about)).toEqual(plain)
  expect(sealed.includes(plain)).toBe(false)
})

test('the same key is sealed differently each time', () => {
  expect(sealPrivateKey(plain, about)).not.toEqual(sealed)
})

test.each([
  ['another secret', sealed, { ...about, secret_key: 't'.repeat(32) }],
  ["another key's row", sealed, { ...about, kid: 'key-2' }],
  ['a cut value', sealed.subarray(0, 20), about],
  ['nothing', Buffer.alloc(0), about],
  ['another version', Buffer.concat([Buffer.from([2]), sealed.subarray(1)]), about],
])('%s does not open', (_name, value, with_) => {
  expect(openPrivateKey(value, with_)).toBeUndefined()
})

test('a flipped bit anywhere is noticed', () => {
  for (let at = 0; at < sealed.length; at += 1) {
    const flipped = Buffer.from(sealed)
    flipped.writeUInt8(flipped.readUInt8(at) ^ 1, at)
    expect(openPrivateKey(flipped, about), `byte ${at}`).toBeUndefined()
  }
})
