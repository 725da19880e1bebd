import { expect, test } from 'vitest'
import { decideByWords } from '../verdicts/judge-by-words.ts'
import { decideBySources } from './kb-verdict.ts'

test('a document with another number differs, to be reviewed', () => {
  const passage = {
    ...{ source: 'prices', text: 'The Starter plan costs $49 per month.', at: [0, 37] as const },
    ...{ context: '', weights: new Map<string, number>() },
  }
  const asked = { text: 'The Starter plan costs $39 per month.', context: '' }
  const { verdict, differs = '' } = decideByWords(asked, [passage as never])
  expect([verdict, differs]).toEqual(['unverifiable', '$49 per month'.slice(0, 3)])
  const evidence = [
    { kind: 'document' as const, source: 'prices', quote: passage.text, at: null, digest: null },
  ]
  const source = { verdict: 'unverifiable' as const, confidence: 0.5, method: 'words', evidence }
  const decided = decideBySources([{ ...source, by: 'documents', differs }], [])
  expect(decided).toMatchObject({
    verdict: 'unverifiable',
    note: 'differs: $49 in documents; to be reviewed',
  })
})
