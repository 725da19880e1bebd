import { describe, expect, test } from 'vitest'
import { splitDocument } from '../knowledge/chunks.ts'
import { buildLibrary, findPassages } from '../knowledge/library.ts'
import { readDocument } from '../knowledge/read-document.ts'
import { judgeByWords } from './judge-by-words.ts'

function verdictOf(claim: string, text: string): string {
  const library = buildLibrary([splitDocument('d', '', readDocument('text', text))])
  const asked = { text: claim }
  return judgeByWords(asked, findPassages(library, asked)).verdict
}

/** False claims beside the sentence that corrects them: written with this code, so not blind. */
const corrected: readonly (readonly [claim: string, source: string])[] = [
  // Comparisons the other way round.
  ['Copper is more reactive than iron.', 'Iron is more reactive than Copper.'],
  ['Copper displaces iron from its salts.', 'Iron displaces copper from its salts.'],
  ['Silver is heavier than the old lead pipe.', 'The old lead pipe is heavier than silver.'],
  ['Kupfer ist edler als das Silber der Münze.', 'Das Silber der Münze ist edler als Kupfer.'],
  ['The moon causes the delay of the ferry.', 'The delay of the ferry causes the moon tide.'],
  // Another number, also in words.
  [
    'About one new star forms in the Milky Way each year.',
    'About six to seven new stars form in the Milky Way each year.',
  ],
  ['The harbour has three cranes on its quay.', 'The harbour has cranes on its quay.'],
  ['A single crane stands on the quay of Lund.', 'Four cranes stand on the quay of Lund.'],
  // Another predicate.
  [
    'The measured drift is consistent with the tidal model of Lund.',
    'The measured drift is evidence against the tidal model of Lund.',
  ],
  [
    'The council supports the new bridge over the river.',
    'The council opposes the new bridge over the river.',
  ],
  [
    'The ferry to the island was painted in spring.',
    'The ferry to the island was cancelled in spring.',
  ],
  // Denials.
  ['Copper can displace iron from a solution.', 'No. Copper cannot displace iron from a solution.'],
  [
    'Copper can displace iron from a solution.',
    'No, copper can not displace iron from a solution.',
  ],
  ['Dogs are allowed on the ferry.', 'No, it is not true that dogs are allowed on the ferry.'],
  ['Dogs are allowed on the ferry.', 'Nobody says that dogs are never allowed on the ferry.'],
  // Questions.
  ['Copper can displace iron from a solution.', 'Can copper displace iron from a solution?'],
  ['The harbour opens at noon on Sundays.', 'Is it so that the harbour opens at noon on Sundays?'],
  ['The harbour opens at noon on Sundays.', 'Does the harbour open at noon on Sundays'],
  ['The harbour opens at noon.', 'They asked whether the harbour opens at noon.'],
  ['Der Hafen öffnet sonntags um zwölf.', 'Stimmt es, dass der Hafen sonntags um zwölf öffnet?'],
]

describe('a false claim is not supported by its correction', () => {
  test.each(corrected)('%s – %s', (claim, source) => {
    expect(['unverifiable', 'not_found']).toContain(verdictOf(claim, source))
  })
})

describe('the same sentence, the right way round, is a quote', () => {
  test.each([
    ['Iron is more reactive than copper.', 'As known, iron is more reactive than copper.'],
    ['Copper cannot displace iron.', 'Copper cannot displace iron.'],
    [
      'About six to seven new stars form each year.',
      'About six to seven new stars form each year.',
    ],
  ])('%s – %s', (claim, source) => {
    expect(verdictOf(claim, source)).toBe('supported')
  })
})
