import type { Message } from '../../../reconstruction/index.ts'
import { remember } from '../../remember.ts'
import { readSentences } from '../sentence/segments.ts'
import { ruleChance } from './classify.ts'

/** Tells whether a user message may say how answers are to be, in words that no reader knows. */
export const mayGiveRule: (message: Message) => boolean = remember(({ text }) =>
  readSentences(text.slice(0, text_chars_max), 'user').some(
    ({ written }) => ruleChance(written) >= chance_min,
  ),
)

/** A low bound: of the sentences that the classifier is not sure of, many give a rule. */
const chance_min = 0.07
const text_chars_max = 2_000
