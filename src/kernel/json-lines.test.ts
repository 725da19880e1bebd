import fc from 'fast-check'
import { expect, test } from 'vitest'
import { readLines, toJsonLine } from './json-lines.ts'

const text = fc.string({
  unit: fc.constantFrom('a', 'ä', '😀', '\n', '\r', '\u0085', '\u2028', '\u2029', '"', '\\'),
})

/** Yields the bytes in parts of a size. */
async function* parts(bytes: Uint8Array, size: number) {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size)
}

test('lines of JSON are read back whole, wherever the bytes are split', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(text), fc.integer({ min: 1, max: 9 }), async (values, size) => {
      const file = values.map((value) => toJsonLine({ value })).join('')
      const read = await Array.fromAsync(readLines(parts(Buffer.from(file), size)))
      expect(read.map((line) => JSON.parse(line).value)).toEqual(values)
      expect(file).not.toMatch(/[\u0085\u2028\u2029]/)
    }),
  )
})

test('only a line feed ends a line, and the last one needs none', async () => {
  await fc.assert(
    fc.asyncProperty(text, fc.integer({ min: 1, max: 9 }), async (file, size) => {
      const expected = file.split('\n')
      if (expected.at(-1) === '') expected.pop()
      const read = await Array.fromAsync(readLines(parts(Buffer.from(file), size)))
      expect(read).toEqual(expected)
    }),
  )
})
