import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gunzipSync, gzipSync } from 'node:zlib'
import { afterAll, expect, test } from 'vitest'
import { packRecords, readRecords } from '../bench/verification/packed-records.ts'

const folder = mkdtempSync(join(tmpdir(), 'packed-'))
afterAll(() => rmSync(folder, { recursive: true }))

const records = [{ text: 'line\u2028separator\nand “quotes”' }, { at: [1, 2.5], none: null }]

test('records are one line each, and are read as they were', () => {
  const file = join(folder, 'a.jsonl.gz')
  expect(packRecords(file, records)).toBe(true)
  expect(readRecords(file)).toEqual(records)
  expect(gunzipSync(readFileSync(file)).toString('utf8').split('\n')).toHaveLength(3)
})

test('the same records leave the bytes of another compressor, a changed one replaces them', () => {
  const file = join(folder, 'b.jsonl.gz')
  const other = gzipSync(
    records.map((one) => `${JSON.stringify(one)}\n`.replace('\u2028', '\\u2028')).join(''),
    { level: 1 },
  )
  writeFileSync(file, other)
  expect(packRecords(file, records)).toBe(false)
  expect(readFileSync(file)).toEqual(other)
  expect(packRecords(file, records.slice(1))).toBe(true)
  expect(readRecords(file)).toEqual(records.slice(1))
})

test('an empty list is a file without lines', () => {
  const file = join(folder, 'c.jsonl.gz')
  packRecords(file, [])
  expect(readRecords(file)).toEqual([])
})

test.each([
  ['tuning', 160, 529, 510],
  ['blind', 36, 136, 120],
  ['facts', 30, 121, undefined],
])('%s has the documents, answers and runs of its README', (set, documents, answers, runs) => {
  const count = (name: string) =>
    readRecords(`bench/verification/corpus/${set}/${name}.jsonl.gz`).length
  expect([count('documents'), count('answers')]).toEqual([documents, answers])
  if (runs !== undefined) expect(count('runs')).toBe(runs)
})
