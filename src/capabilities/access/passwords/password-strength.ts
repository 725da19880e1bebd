import { problem } from '../../../kernel/problem.ts'
import { createAnsweringThread } from '../../../platform/threads/index.ts'

/** A question to the thread. */
export type StrengthQuestion = { password: string; known_words: readonly string[] }

/** The answer of the thread: the decimal logarithm of the guesses that find the password. */
export type StrengthAnswer = { guesses_log10: number; warning: string | null }

/** Refuses passwords that are easy to guess. */
export type PasswordStrength = {
  /**
   * Returns why the password is easy to guess and what to do, without quoting it; undefined for a
   * strong one. `about` are texts that an attacker knows, such as the e-mail.
   */
  findWeakness(password: string, about?: readonly string[]): Promise<string | undefined>
  /** Ends the thread. */
  close(): Promise<void>
}

/**
 * Guesses that a password must withstand: a day of 100,000 guesses a second on a stolen hash
 * (https://www.usenix.org/conference/usenixsecurity16/technical-sessions/presentation/wheeler).
 */
const guesses_log10_min = 10
/** Characters that are estimated; the time grows with their square. The rest only adds strength. */
const estimated_max = 40
const answer_ms_max = 15_000
const advice = 'Use a longer phrase, such as four words that do not belong together.'

/**
 * Creates the check. Its thread starts with the first password and ends a minute after the last.
 */
export function createPasswordStrength(): PasswordStrength {
  const thread = createAnsweringThread<StrengthQuestion, StrengthAnswer>({
    file: new URL('./strength-thread.ts', import.meta.url),
    answer_ms_max,
    waiting: { max: 50, refusal: tooMany },
    failed: unavailable,
  })
  return {
    findWeakness: async (password, about = []) => {
      const estimated = cut(password.normalize('NFKC'))
      const known_words = ['looptrace', ...about.flatMap(wordsOf)].slice(0, maxKnownWords)
      const { guesses_log10, warning } = await thread.ask({
        password: estimated,
        known_words,
      })
      if (guesses_log10 >= guesses_log10_min) return undefined
      return `${warning ?? 'The password is easy to guess.'} ${advice}`
    },
    close: thread.close,
  }
}

/** Throws `invalid_request` when the password is easy to guess. */
export async function assertStrong(
  strength: PasswordStrength,
  { password, pointer, about }: { password: string; pointer: string; about?: readonly string[] },
): Promise<void> {
  const detail = await strength.findWeakness(password, about)
  if (detail === undefined) return
  throw problem('invalid_request', {
    detail: `${pointer}: ${detail}`,
    faults: [{ pointer, detail }],
  })
}

const maxKnownWords = 40

/** Returns the text in lower case and its words of three and more characters. */
function wordsOf(text: string): string[] {
  const lower = text.toLowerCase().slice(0, 320)
  return [lower, ...lower.split(/[^\p{L}\p{N}]+/u).filter((word) => word.length > 2)]
}

/** Returns the first characters, without half of a surrogate pair. */
function cut(password: string): string {
  return Array.from(password).slice(0, estimated_max).join('')
}

function unavailable(cause: unknown): Error {
  return problem('overloaded', { detail: 'The password could not be checked. Retry.', cause })
}

function tooMany(): Error {
  return problem('rate_limited', {
    detail: 'Too many new passwords at once. Retry shortly',
    retry_after_s: 1,
  })
}
