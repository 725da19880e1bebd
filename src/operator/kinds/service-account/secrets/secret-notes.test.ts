import { expect, test } from 'vitest'
import { readNotes, writeNotes } from './secret-notes.ts'

const id = '01890000-0000-7000-8000-000000000001'
const ends_at = '2026-11-21T12:00:00.000Z'

test('written notes are read back', () => {
  const noted = { minted_at_ms: 1_700_000_000_000, previous: [{ id, ends_at }] }
  expect(readNotes({ annotations: { other: 'x', ...writeNotes(noted) } })).toEqual(noted)
})

test('beyond the maximum the oldest previous keys are dropped', () => {
  const previous = Array.from({ length: 12 }, (_, n) => ({
    id: `01890000-0000-7000-8000-${String(n).padStart(12, '0')}`,
    ends_at,
  }))
  const read = readNotes({ annotations: writeNotes({ minted_at_ms: 0, previous }) })
  expect(read.previous).toEqual(previous.slice(-8))
})

test.each([
  ['no annotations', {}],
  ['invalid JSON', { 'looptrace.dev/previous-keys': '[', 'looptrace.dev/minted-at': 'yesterday' }],
  ['an object', { 'looptrace.dev/previous-keys': '{}' }],
  ['an invalid id', { 'looptrace.dev/previous-keys': `[{"id":"a","ends_at":"${ends_at}"}]` }],
  [
    'too many keys',
    {
      'looptrace.dev/previous-keys': JSON.stringify(
        Array.from({ length: 9 }, () => ({ id, ends_at })),
      ),
    },
  ],
])('%s count as missing notes', (_name, annotations) => {
  expect(readNotes({ annotations })).toEqual({ minted_at_ms: undefined, previous: [] })
})
