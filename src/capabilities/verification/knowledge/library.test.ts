import fc from 'fast-check'
import { expect, test } from 'vitest'
import { measureCpu } from '../../../../test/support/cpu-time.ts'
import { readQuantities } from '../../provenance/values/index.ts'
import { splitDocument } from './chunks.ts'
import { buildLibrary, findPassages, shareOfNumbers, weighRecall } from './library.ts'
import { readDocument } from './read-document.ts'

const sentence = fc
  .array(fc.constantFrom('ferry', 'harbour', 'costs', '12', '40', 'euros', 'night'), {
    minLength: 1,
    maxLength: 6,
  })
  .map((words) => `${words.join(' ')}.\n`)
const source = fc.array(sentence, { minLength: 1, maxLength: 10 }).map((parts) => parts.join(''))

test('passages are ranked by recall × (0.3 + 0.7 · numbers), and are in their source', () => {
  fc.assert(
    fc.property(fc.array(source, { minLength: 1, maxLength: 4 }), sentence, (sources, claim) => {
      const documents = sources.map((text, at) =>
        splitDocument(`d${at}`, '', readDocument('text', text)),
      )
      const passages = findPassages(buildLibrary(documents), { text: claim })
      const scores = passages.map(({ score }) => score)
      expect(scores).toEqual(scores.toSorted((one, other) => other - one))
      for (const passage of passages) {
        const { source: id, at, text, recall, numbers, score, weights } = passage
        expect(sources[Number(id.slice(1))]?.slice(...at)).toBe(text)
        expect(recall).toBe(weighRecall(weights, text))
        expect(numbers).toBe(shareOfNumbers(readQuantities(claim), text))
        expect(score).toBe(recall * (0.3 + 0.7 * numbers))
      }
    }),
  )
})

test('the header of a table and the title give a row its meaning', () => {
  const table =
    '| Fare | Bags |\n|---|---|\n| Light | 0 |\n| Plus | 1 |\n| Flex | 3 |\n| Crew | 4 |\n'
  const document = splitDocument('d', 'Norra Air', readDocument('markdown', table))
  const [best] = findPassages(buildLibrary([document]), { text: 'Norra Crew has 4 bags.' })
  expect(best?.context).toBe('Norra Air\nFare | Bags')
  expect(best?.text).toContain('Crew | 4')
  expect(best?.recall).toBe(1)
})

test('a claim of a million words against 10,000 chunks', () => {
  const text = Array.from(
    { length: 30_000 },
    (_, at) => `Gate ${at % 977} closes at ${at % 24}.`,
  ).join(' ')
  const library = buildLibrary([splitDocument('d', '', readDocument('text', text))])
  expect(library.chunks.size).toBe(10_000)
  const { cpu_ms } = measureCpu(() => {
    findPassages(library, { text: 'gate closes 17 '.repeat(333_333) })
  })
  expect(cpu_ms).toBeLessThan(3_000)
})
