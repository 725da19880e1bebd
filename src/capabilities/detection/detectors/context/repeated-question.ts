import { z } from 'zod'
import type { Detector } from '../../contract.ts'
import { findAnsweredQuestions, toQuestionDraft } from '../../facts/index.ts'

const settings = z.strictObject({})

/** Finds questions that the agent repeats although the user answered them. */
export const repeatedQuestion: Detector<typeof settings> = {
  name: 'repeated_question',
  kind: 'context',
  types: ['repeated_question'],
  version: 3,
  needs: ['texts', 'history'],
  settings,
  detect(run, _settings, budget, prior) {
    return findAnsweredQuestions(run, budget, prior)
      .filter(({ was_asked }) => was_asked)
      .map((again) => toQuestionDraft(run, 'repeated_question', again))
  },
}
