import fc from 'fast-check'
import { expect, test } from 'vitest'
import { tokenize } from '../../provenance/text/index.ts'
import { buildIndex, searchIndex } from './postings.ts'

const word = fc.constantFrom('ferry', 'car', 'night', 'boat', 'twelve', '12')
const texts = fc.array(fc.array(word, { maxLength: 12 }), { minLength: 1, maxLength: 12 })

/** BM25 as in the paper, over the texts themselves. */
function naiveBm25(chunks: readonly string[][], query: readonly string[], k1: number, b: number) {
  const terms = chunks.map((words) => words.map((one) => tokenize(one)[0]?.term ?? ''))
  const average = terms.reduce((sum, { length }) => sum + length, 0) / terms.length
  return terms.map((words) => {
    let score = 0
    for (const one of new Set(query.map((text) => tokenize(text)[0]?.term ?? ''))) {
      const frequency = terms.filter((other) => other.includes(one)).length
      const idf = Math.log(1 + (terms.length - frequency + 0.5) / (frequency + 0.5))
      const tf = words.filter((other) => other === one).length
      if (tf > 0)
        score += idf * ((tf * (k1 + 1)) / (tf + k1 * (1 - b + (b * words.length) / average)))
    }
    return score
  })
}

test('BM25 over postings equals BM25 over the texts', () => {
  const constants = fc.record({
    k1: fc.double({ min: 0, max: 3, noNaN: true }),
    b: fc.double({ min: 0, max: 1, noNaN: true }),
  })
  fc.assert(
    fc.property(texts, fc.array(word, { maxLength: 5 }), constants, (chunks, query, { k1, b }) => {
      const index = buildIndex(chunks.map((words, at) => ({ id: `${at}`, text: words.join(' ') })))
      const terms = new Map(query.map((one) => [tokenize(one)[0]?.term ?? '', 1]))
      const found = searchIndex(index, terms, { k1, b }, 100)
      const naive = naiveBm25(chunks, query, k1, b)
      expect(found).toHaveLength(naive.filter((score) => score > 0).length)
      for (const { chunk, score } of found) expect(score).toBeCloseTo(naive[Number(chunk)] ?? 0, 9)
      expect(found.map(({ score }) => score)).toEqual(
        found.map(({ score }) => score).toSorted((one, other) => other - one),
      )
    }),
  )
})

test('the order of the texts has no influence on a search', () => {
  fc.assert(
    fc.property(texts, fc.array(word, { minLength: 1, maxLength: 4 }), (chunks, query) => {
      const entries = chunks.map((words, at) => ({ id: `${at}`, text: words.join(' ') }))
      const terms = new Map(query.map((one) => [tokenize(one)[0]?.term ?? '', 1]))
      const found = searchIndex(buildIndex(entries), terms)
      expect(searchIndex(buildIndex(entries.toReversed()), terms)).toEqual(found)
    }),
  )
})

test('nothing is found in an empty index', () => {
  expect(searchIndex(buildIndex([]), new Map([['a', 1]]))).toEqual([])
})

test.each([
  ['Fees', 'fee'],
  ['1,200', '1200'],
  ['1.200.000', '1200000'],
  ['31,80', '31.8'],
  ['Übergrößen', 'ubergroßen'],
  ['cities', 'city'],
  ['stopped', 'stop'],
  ['constructor', 'constructor'],
  ['V5', 'v5'],
])('%s is indexed as %s', (text, term) => {
  expect(tokenize(text).map((token) => token.term)).toEqual([term])
})
