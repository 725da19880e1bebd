import fc from 'fast-check'
import { expect, test } from 'vitest'
import { deriveSentiment, type Judgement, judgingLabels } from './sentiment.ts'

test.each<[Judgement, string | null]>([
  [{}, null],
  [{ labels: ['billing'] }, null],
  [{ thumbs: 'up' }, 'positive'],
  [{ thumbs: 'down' }, 'negative'],
  [{ rating: 1 }, 'negative'],
  [{ rating: 2 }, 'negative'],
  [{ rating: 3 }, 'neutral'],
  [{ rating: 4 }, 'positive'],
  [{ rating: 5, thumbs: 'down' }, 'negative'],
  [{ rating: 3, thumbs: 'up' }, 'positive'],
  [{ labels: ['Off-topic'] }, 'negative'],
  [{ labels: ['correct', 'too slow'] }, 'negative'],
  [{ labels: ['Helpful'], rating: 3 }, 'positive'],
  [{ correction: 'It is 4.' }, 'negative'],
  [{ correction: 'It is 4.', thumbs: 'up' }, 'positive'],
  [{ correction: 'It is 4.', rating: 3 }, 'neutral'],
  [{ sentiment: 'neutral', thumbs: 'down' }, 'neutral'],
])('%j is %s', (item, sentiment) => {
  expect(deriveSentiment(item)).toBe(sentiment)
})

test('a given sentiment wins, and anything bad makes an item negative', () => {
  const judgement = fc.record({
    rating: fc.option(fc.integer({ min: 1, max: 5 })),
    thumbs: fc.option(fc.constantFrom('up' as const, 'down' as const)),
    labels: fc.array(fc.constantFrom('wrong', 'helpful', 'billing'), { maxLength: 3 }),
    correction: fc.option(fc.constant('x')),
    sentiment: fc.option(
      fc.constantFrom('negative' as const, 'neutral' as const, 'positive' as const),
    ),
  })
  fc.assert(
    fc.property(judgement, (item) => {
      const isBad =
        item.thumbs === 'down' || (item.rating ?? 5) < 3 || item.labels.includes('wrong')
      const derived = deriveSentiment(item)
      if (item.sentiment !== null) expect(derived).toBe(item.sentiment)
      else if (isBad) expect(derived).toBe('negative')
      else if (derived === 'negative') expect(item.correction).not.toBeNull()
    }),
  )
})

test('no label is of both kinds', () => {
  const { negative, positive } = judgingLabels
  expect(negative.filter((label) => positive.includes(label))).toEqual([])
})
