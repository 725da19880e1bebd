import fc from 'fast-check'
import { expect, test } from 'vitest'
import { answerContext, seenSource } from '../../../../test/support/web-pages.ts'
import { checkCitations } from './check-citations.ts'
import { openCitations } from './follow-references.ts'

const word = fc.stringMatching(/^[a-zäöé]{4,9}$/)
const joint = fc.constantFrom(' ', '  ', '\n', ' “', '” ', ' – ', ', ', ' \u00a0')
/** Words with white space and punctuation between them, which quotes may write in another way. */
const content = fc.array(fc.tuple(word, joint), { minLength: 12, maxLength: 40 }).map((parts) =>
  parts
    .map((part) => part.join(''))
    .join('')
    .trim(),
)

/** Ways to show numbered sources to an agent. */
const styles: ((texts: readonly string[]) => string)[] = [
  (texts) => texts.map((text, at) => `[${at + 1}] ${text}`).join('\n\n'),
  (texts) => texts.map((text, at) => `Source ${at + 1}:\n${text}`).join('\n'),
  (texts) => JSON.stringify(texts.map((text) => ({ title: 'A title', content: text }))),
  (texts) => JSON.stringify({ hits: texts.map((text, at) => ({ index: at + 1, text })) }, null, 2),
  (texts) => JSON.stringify({ output: texts.map((text, at) => `[${at + 1}] ${text}`).join('\n') }),
  (texts) =>
    texts.map((text, at) => `<document index="${at + 1}">\n${text}\n</document>`).join('\n'),
]

const cases = fc.record({
  texts: fc.array(content, { minLength: 1, maxLength: 4 }),
  style: fc.constantFrom(...styles),
  cited: fc.nat(),
  from: fc.nat(),
})

function check(seenText: string, claim: string) {
  const seen = [seenSource(seenText)]
  const citations = openCitations(answerContext(claim, { seen }))
  const read = citations.read({ text: claim, at: [0, claim.length], values: [] })
  if (read === undefined) throw new Error('the claim has no references')
  return checkCitations(read, citations.seen.all)
}

/** Returns six words of a text with what is between them. */
function quoteFrom(text: string, from: number): string {
  const words = [...text.matchAll(/[a-zäöé]+/g)]
  const start = from % (words.length - 6)
  const last = words[start + 5]
  return text.slice(words[start]?.index, (last?.index ?? 0) + (last?.[0].length ?? 0))
}

test('a quote from any source in any list is found in it, with its offsets', () => {
  fc.assert(
    fc.property(cases, ({ texts, style, cited, from }) => {
      const number = (cited % texts.length) + 1
      const quote = quoteFrom(texts[number - 1] ?? '', from)
      const seenText = style(texts)
      const written = quote
        .replace(/[\n\u00a0]/g, ' ')
        .replace(/[“”]/g, "'")
        .toUpperCase()
      const result = check(seenText, `It is written: «${written}» [${number}].`)
      expect(result).toMatchObject({ verdict: 'supported', method: 'quote' })
      for (const { quote: found, at } of result.evidence) {
        expect(seenText.slice(...(at ?? [0, 0]))).toBe(found)
      }
    }),
    { numRuns: 200 },
  )
})

test('a quote that no source has is never supported, and a number beyond them is contradicted', () => {
  fc.assert(
    fc.property(cases, ({ texts, style, cited }) => {
      const number = (cited % texts.length) + 1
      const seenText = style(texts)
      const invented = 'xylophones were forbidden quietly yesterday'
      expect(check(seenText, `It is written: «${invented}» [${number}].`).verdict).not.toBe(
        'supported',
      )
      const beyond = check(seenText, `It is written: «${invented}» [${texts.length + 1}].`)
      expect(beyond).toMatchObject({ verdict: 'contradicted', method: 'citation' })
    }),
    { numRuns: 200 },
  )
})
