import { randomBytes } from 'node:crypto'
import {
  brotliCompressSync,
  deflateRawSync,
  deflateSync,
  gzipSync,
  zstdCompressSync,
} from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { decodeBody } from './read-answer.ts'

const text = randomBytes(200_000).toString('hex')
const encodings = [
  ['gzip', gzipSync],
  ['x-gzip', gzipSync],
  ['deflate', deflateSync],
  ['deflate', deflateRawSync],
  ['br', brotliCompressSync],
  ['zstd', zstdCompressSync],
] as const
const read = (body: Uint8Array, encoding: string, bytes_max = 1_000_000) => {
  const { bytes, fault } = decodeBody(body, encoding, bytes_max)
  return { text: Buffer.from(bytes).toString(), fault }
}

describe.each(encodings)('%s', (encoding, compress) => {
  const body = compress(Buffer.from(text))

  test('is taken off', () => {
    expect(read(body, encoding)).toEqual({ text, fault: '' })
  })

  test('cut: what came before is read', () => {
    const { text: start, fault } = read(body.subarray(0, Math.floor(body.length * 0.9)), encoding)
    expect(fault).toBe('')
    expect(start.length).toBeGreaterThan(100_000)
    expect(text.startsWith(start)).toBe(true)
  })

  test('beyond the bound: nothing is read', () => {
    expect(read(body, encoding, 1_000)).toEqual({ text: '', fault: expect.stringMatching(/1000/) })
  })

  test('broken: nothing is read', () => {
    expect(read(Buffer.alloc(100, 0xff), encoding)).toEqual({
      text: '',
      fault: expect.stringContaining(`${encoding}: `),
    })
  })
})

test.each(['', 'identity', ' Identity '])('%j is as it is', (encoding) => {
  expect(read(Buffer.from('a'), encoding)).toEqual({ text: 'a', fault: '' })
})

test('several are taken off, the last first', () => {
  expect(read(brotliCompressSync(gzipSync('a')), 'gzip, br')).toEqual({ text: 'a', fault: '' })
})

test.each(['x-unknown', 'gzip, gzip, gzip, gzip', '__proto__'])('%s is a fault', (encoding) => {
  const { text: read_text, fault } = read(gzipSync('a'), encoding)
  expect(read_text).toBe('')
  expect(fault).toContain('content-encoding')
})
