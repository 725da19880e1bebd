import type { Message } from '../../../reconstruction/index.ts'
import { remember } from '../../remember.ts'
import { readSentences } from '../sentence/segments.ts'
import { ruleChance } from './classify.ts'

/** Tells whether a user message may give a rule for answers, also in a wording that no reader knows. */
export const mayGiveRule: (message: Message) => boolean = remember(({ text }) =>
  readSentences(text.slice(0, text_chars_max), 'user').some(
    ({ written }) => ruleChance(written) >= chance_min,
  ),
)

/** Low, because many sentences that give a rule have a low probability. */
const chance_min = 0.07
const text_chars_max = 2_000
