import fc from 'fast-check'
import { expect, test } from 'vitest'
import { fuzzRuns } from '../../../../../test/support/suite/budget.ts'
import { KeyMask } from './key-mask.ts'

test('an answer without the key passes at once', () => {
  const mask = new KeyMask('sk-secret')
  const chunk = Buffer.from('data: hello\n\n')
  expect(mask.push(chunk)).toEqual(chunk)
  expect(mask.end()).toHaveLength(0)
})

test('a key in any pieces is replaced, and nothing else', () => {
  const text = fc.array(fc.constantFrom('aab', 'a', 'b', 'aaba', 'x'), { maxLength: 20 })
  const sizes = fc.array(fc.integer({ min: 1, max: 4 }), { minLength: 1, maxLength: 10 })
  fc.assert(
    fc.property(text, sizes, fc.constantFrom('aab', 'aaba', 'ab'), (parts, lengths, key) => {
      const bytes = Buffer.from(parts.join(''))
      const mask = new KeyMask(key)
      const out: Buffer[] = []
      for (let at = 0, turn = 0; at < bytes.length; turn += 1) {
        const length = lengths[turn % lengths.length] ?? 1
        out.push(mask.push(bytes.subarray(at, at + length)))
        at += length
      }
      const got = Buffer.concat([...out, mask.end()]).toString()
      expect(got).toBe(bytes.toString().replaceAll(key, '*'.repeat(key.length)))
    }),
    { numRuns: fuzzRuns(1_000) },
  )
})
