import { expect, test } from 'vitest'
import { openSealed, sealValue } from './sealed-value.ts'

const about = { secret_key: 's'.repeat(32), purpose: 'signing keys', about: 'key-1' }
const plain = Buffer.from('a private key')
const sealed = sealValue(plain, about)

test('a sealed key opens with the same secret, and does not contain the plain text', () => {
  expect(openSealed(sealed, about)).toEqual(plain)
  expect(sealed.includes(plain)).toBe(false)
})

test('the same key is sealed differently each time', () => {
  expect(sealValue(plain, about)).not.toEqual(sealed)
})

test.each([
  ['another secret', sealed, { ...about, secret_key: 't'.repeat(32) }],
  ['another purpose', sealed, { ...about, purpose: 'channels' }],
  ["another key's row", sealed, { ...about, about: 'key-2' }],
  ['a cut value', sealed.subarray(0, 20), about],
  ['nothing', Buffer.alloc(0), about],
  ['another version', Buffer.concat([Buffer.from([2]), sealed.subarray(1)]), about],
])('%s does not open', (_name, value, with_) => {
  expect(openSealed(value, with_)).toBeUndefined()
})

test('a flipped bit anywhere is noticed', () => {
  for (let at = 0; at < sealed.length; at += 1) {
    const flipped = Buffer.from(sealed)
    flipped.writeUInt8(flipped.readUInt8(at) ^ 1, at)
    expect(openSealed(flipped, about), `byte ${at}`).toBeUndefined()
  }
})
