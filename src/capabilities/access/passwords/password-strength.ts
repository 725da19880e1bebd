import { Worker } from 'node:worker_threads'
import { problem } from '../../../kernel/problem.ts'
import { Semaphore } from '../../../kernel/semaphore.ts'

/** A question to the thread. */
export type StrengthQuestion = { id: number; password: string; known_words: readonly string[] }

/** The answer of the thread: the decimal logarithm of the guesses that find the password. */
export type StrengthAnswer = { id: number; guesses_log10: number; warning: string | null }

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
const idle_ms = 60_000
const answer_ms_max = 15_000
const advice = 'Use a longer phrase, such as four words that do not belong together.'

/** Creates the check. Its thread starts with the first password and ends a minute after the last. */
export function createPasswordStrength(): PasswordStrength {
  const slot = new Semaphore({ permits_max: 1, waiting: { max: 50, refusal: tooMany } })
  let thread: Worker | undefined
  let idle: NodeJS.Timeout | undefined
  let asked = 0
  const end = async () => {
    clearTimeout(idle)
    const ended = thread
    thread = undefined
    await ended?.terminate()
  }
  const ask = async (password: string, known_words: readonly string[]) => {
    clearTimeout(idle)
    thread ??= startThread()
    asked += 1
    const answer = await askThread(thread, { id: asked, password, known_words }).catch(
      async (error: unknown) => {
        await end()
        throw error
      },
    )
    idle = setTimeout(end, idle_ms).unref()
    return answer
  }
  return {
    findWeakness: async (password, about = []) => {
      const estimated = cut(password.normalize('NFKC'))
      const known_words = ['looptrace', ...about.flatMap(wordsOf)].slice(0, knownWords_max)
      const { guesses_log10, warning } = await slot.run(() => ask(estimated, known_words))
      if (guesses_log10 >= guesses_log10_min) return undefined
      return `${warning ?? 'The password is easy to guess.'} ${advice}`
    },
    close: end,
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

const knownWords_max = 40

/** Returns the text in lower case and its words of three and more characters. */
function wordsOf(text: string): string[] {
  const lower = text.toLowerCase().slice(0, 320)
  return [lower, ...lower.split(/[^\p{L}\p{N}]+/u).filter((word) => word.length > 2)]
}

/** Returns the first characters, without half of a surrogate pair. */
function cut(password: string): string {
  return Array.from(password).slice(0, estimated_max).join('')
}

function startThread(): Worker {
  const thread = new Worker(new URL('./strength-thread.ts', import.meta.url))
  thread.unref()
  // A failure rejects the question that waits for an answer.
  thread.on('error', () => undefined)
  return thread
}

function askThread(thread: Worker, question: StrengthQuestion): Promise<StrengthAnswer> {
  return new Promise((resolve, reject) => {
    const settle = (act: () => void) => {
      clearTimeout(timer)
      thread.off('message', answered)
      thread.off('error', failed)
      act()
    }
    const answered = (answer: StrengthAnswer) => {
      if (answer.id === question.id) settle(() => resolve(answer))
    }
    const failed = (cause: unknown) => settle(() => reject(unavailable(cause)))
    const timer = setTimeout(() => failed(new Error('no answer in time')), answer_ms_max)
    thread.on('message', answered)
    thread.on('error', failed)
    thread.postMessage(question)
  })
}

function unavailable(cause: unknown): Error {
  return problem('overloaded', { detail: 'The password could not be checked. Retry.', cause })
}

function tooMany(): Error {
  return problem('rate_limited', { detail: 'Too many new passwords at once', retry_after_s: 1 })
}
