import { z } from 'zod'
import { askedAgain } from '../../context/asked-again.ts'
import { askedAgainFinding } from '../../context/asked-again-finding.ts'
import type { Detector } from '../../contract.ts'

const settings = z.strictObject({})

/** The agent asks a question again that the user has answered. */
export const repeatedQuestion: Detector<typeof settings> = {
  name: 'repeated_question',
  kind: 'context',
  types: ['repeated_question'],
  version: 1,
  needs: ['texts'],
  settings,
  detect(run, _settings, budget, prior) {
    return askedAgain(run, budget, prior)
      .filter(({ was_asked }) => was_asked)
      .map((again) => askedAgainFinding(run, 'repeated_question', again))
  },
}
