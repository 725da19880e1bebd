import { expect, test } from 'vitest'
import { readDocuments } from './read-documents.ts'

test.each([
  ['yes', true],
  ['1:30', '1:30'],
  ['2026-01-01', '2026-01-01'],
  ['e0', 'e0'],
  ['E5', 'E5'],
  ['.e3', '.e3'],
  ['.', '.'],
  ['._', '._'],
  ['-.', '-.'],
  ['1e3', 1000],
  ['1.', 1],
  ['.5', 0.5],
  ['-.5e1', -5],
  ['1_0.5', 10.5],
  ['.inf', Number.POSITIVE_INFINITY],
])('%s is read as kubectl reads it', (text, value) => {
  expect(readDocuments('a.yaml', `value: ${text}`)).toMatchObject([
    { value: { value }, faults: [] },
  ])
})
