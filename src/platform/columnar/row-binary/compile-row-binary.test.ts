import { expect, test } from 'vitest'
import { compileRowBinary } from './compile-row-binary.ts'

function hex(type: string, value: unknown): string {
  return compileRowBinary<{ a: unknown }>([{ name: 'a', type }])([{ a: value }]).toString('hex')
}

test.each([
  ['String', 'abc', '03616263'],
  ['String', '', '00'],
  ['String', new Uint8Array([0, 255]), '0200ff'],
  ['String', '\ud800', '03efbfbd'],
  ['UUID', '00112233-4455-6677-8899-aabbccddeeff', '7766554433221100ffeeddccbbaa9988'],
  ['UInt16', 258, '0201'],
  ['UInt64', 2 ** 53 - 1, 'ffffffffffff1f00'],
  ['UInt64', 2n ** 64n - 1n, 'ffffffffffffffff'],
  ['Int64', -1, 'ffffffffffffffff'],
  ["DateTime64(9, 'UTC')", -2n, 'feffffffffffffff'],
  ['Decimal(18, 9)', '-1.000000001', 'ff3565c4ffffffff'],
  ['Decimal(18, 2)', '1.50000', '9600000000000000'],
  ['Nullable(UInt8)', null, '01'],
  ['Nullable(UInt8)', 0, '0000'],
  ['Array(UInt8)', [1, 2], '020102'],
  ['Map(String, UInt8)', { a: 1 }, '01016101'],
  ['Tuple(id String, n UInt8)', { n: 5, id: 'x' }, '017805'],
  ['FixedString(3)', 'a', '610000'],
])('%s of %s is %s', (type, value, expected) => {
  expect(hex(type, value)).toBe(expected)
})

test('a length uses the minimum number of bytes, before ASCII and before other text', () => {
  for (const length of [23, 24, 25, 42, 43, 127, 128, 5_461, 5_462, 16_383, 16_384, 800_000]) {
    for (const char of ['a', 'é', '語']) {
      const text = char.repeat(length)
      const bytes = Buffer.from(text)
      const encoded = compileRowBinary<{ a: string }>([{ name: 'a', type: 'String' }])([
        { a: text },
      ])
      expect(encoded.subarray(-bytes.length).equals(bytes)).toBe(true)
      expect(varint(encoded)).toEqual({ value: bytes.length, size: encoded.length - bytes.length })
    }
  }
})

test('encodes rows in sequence, with values from any part of the row', () => {
  const encode = compileRowBinary<{ n: number; name: string }>([
    { name: 'n', type: 'UInt8' },
    { name: 'size', type: 'UInt8', from: (row) => row.name.length },
  ])
  const rows = Array.from({ length: 2_000 }, (_, index) => ({ n: index % 256, name: 'abc' }))
  expect([...encode(rows)]).toEqual(rows.flatMap((row) => [row.n, 3]))
  expect(encode([]).length).toBe(0)
})

function varint(bytes: Buffer): { value: number; size: number } {
  let value = 0
  let size = 0
  for (const byte of bytes) {
    value += (byte & 0x7f) * 128 ** size++
    if (byte < 0x80) break
  }
  return { value, size }
}
