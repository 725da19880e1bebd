import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { CapturePolicy } from '../../api/schema.gen.d.ts'
import { draftOf, explainPolicy, toRequest } from './capture-draft.ts'

const word = fc.stringMatching(/^[a-z]{1,8}$/)
const mask = fc.oneof(
  fc.record({ name: word, pattern: word, replacement: word }),
  fc.record({
    name: word,
    keys: fc.array(word, { minLength: 1, maxLength: 4 }),
    replacement: word,
  }),
)

test('a policy without edits is saved as it was', () => {
  fc.assert(
    fc.property(
      fc.constantFrom('full', 'metadata_only', 'off'),
      fc.integer({ min: 0, max: 1_000 }),
      fc.array(mask, { maxLength: 4 }),
      (content, thousandth, masks) => {
        const sample_rate = thousandth / 1_000
        const stored = { content, sample_rate, masks } as CapturePolicy
        const { sample_rate: sent, ...rest } = toRequest(draftOf(stored))
        expect(rest).toEqual({ content, masks })
        expect(sent).toBeCloseTo(sample_rate, 10)
      },
    ),
  )
})

test('says what is removed', () => {
  const stored = {
    content: 'metadata_only',
    sample_rate: 0.1,
    masks: [],
  } as unknown as CapturePolicy
  const draft = draftOf(stored)
  expect(explainPolicy(draft).join(' ')).toMatch(/Removed: inputs.*10 % of the traces/)
  const masks = [
    { id: 0, name: 'card', by: 'keys' as const, pattern: '', keys: 'pan, cvc', replacement: '' },
  ]
  expect(explainPolicy({ ...draft, masks }).at(-1)).toBe(
    'The values of pan, cvc become [masked:card].',
  )
  expect(explainPolicy({ ...draft, content: 'off' })).toHaveLength(1)
})
