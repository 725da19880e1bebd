import { expect, test } from 'vitest'
import { indexSeen } from './seen-index.ts'

const text = '{"order":"PB-7731","total":42.5,"currency":"EUR"}'

test('the same text under another name is evidence of that name', () => {
  const sources = ['tool a', 'tool b', 'tool a'].map(
    (source) => indexSeen([{ source, text }]).values[0]?.evidence.source,
  )
  expect(sources).toEqual(['tool a', 'tool b', 'tool a'])
})

test('a text that was cut is read whole when there is room', () => {
  const rows = Array.from({ length: 50 }, (_, row) => `row ${1_000 + row}`).join('\n')
  const cut = indexSeen([{ source: 'tool', text: rows }], 10)
  expect([cut.isComplete, cut.values.length]).toEqual([false, 10])
  const whole = indexSeen([{ source: 'tool', text: rows }], 100)
  expect([whole.isComplete, whole.values.length]).toEqual([true, 50])
  expect(indexSeen([{ source: 'tool', text: rows }], 10).isComplete).toBe(false)
})

test('a text that was forgotten is read again', () => {
  const first = { source: 'tool', text }
  const before = indexSeen([first])
  expect(indexSeen([first]).values[0]).toBe(before.values[0])
  for (let part = 0; part < 60; part += 1) {
    indexSeen([{ source: 'tool', text: `${part} `.repeat(500) }])
  }
  const after = indexSeen([first])
  expect(after.values[0]).not.toBe(before.values[0])
  expect(after.values).toEqual(before.values)
})

test('a text that is larger than the memory is not remembered, and nothing is forgotten for it', () => {
  const first = { source: 'tool', text }
  const before = indexSeen([first])
  const large = { source: 'tool', text: 'row 1234\n'.repeat(21_000) }
  expect(indexSeen([large]).values[0]).not.toBe(indexSeen([large]).values[0])
  expect(indexSeen([first]).values[0]).toBe(before.values[0])
})
