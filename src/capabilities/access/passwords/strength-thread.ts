import { isMainThread } from 'node:worker_threads'
import { ZxcvbnFactory } from '@zxcvbn-ts/core'
import { adjacencyGraphs, dictionary as common } from '@zxcvbn-ts/language-common'
import { dictionary as english, translations } from '@zxcvbn-ts/language-en'
import { serveThread } from '../../../platform/threads/index.ts'
import type { StrengthAnswer, StrengthQuestion } from './password-strength.ts'

/**
 * Estimates passwords in a thread: the dictionaries take 30 MB and most of a second to load. With
 * more than one substitution of letters by digits, hostile passwords of this length take over
 * 100 ms; with one they take at most 20 ms.
 */
function serve(): void {
  const estimator = new ZxcvbnFactory({
    dictionary: { ...common, ...english },
    graphs: adjacencyGraphs,
    translations,
    l33tMaxSubstitutions: 1,
  })
  serveThread(({ password, known_words }: StrengthQuestion): StrengthAnswer => {
    const { guessesLog10, feedback } = estimator.check(password, [...known_words])
    return { guesses_log10: guessesLog10, warning: feedback.warning }
  })
}

if (!isMainThread) serve()
