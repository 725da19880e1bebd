import { type ResourceLimits, Worker } from 'node:worker_threads'
import { Semaphore, type SemaphoreOptions } from './semaphore.ts'

/** A thread that answers one question at a time. */
export type AskedThread<Question, Answer> = {
  /**
   * Asks the thread, and starts it if it does not run. Rejects with ThreadFailed when the thread
   * ends or does not answer in time; the next question then starts another thread. The signal ends
   * the wait for earlier questions.
   */
  ask(question: Question, signal?: AbortSignal): Promise<Answer>
  /** Ends the thread. */
  close(): Promise<void>
}

export type AskedThreadOptions = {
  /** File of the thread, which posts one message for each message. */
  file: URL
  answer_ms_max: number
  /** Time without a question after which the thread ends. */
  idle_ms: number
  /** Questions that wait. Without it, their number must be bounded elsewhere. */
  waiting?: SemaphoreOptions['waiting']
  memory?: ResourceLimits
}

/** A thread ended without an answer, or did not answer in time. */
export class ThreadFailed extends Error {
  override readonly name = 'ThreadFailed'
}

/** Creates a thread that starts with its first question, and does not keep the process running. */
export function createAskedThread<Question, Answer>(
  options: AskedThreadOptions,
): AskedThread<Question, Answer> {
  const { waiting } = options
  const slot = new Semaphore({ permits_max: 1, ...(waiting && { waiting }) })
  let thread: Worker | undefined
  let idle: NodeJS.Timeout | undefined
  const end = async () => {
    clearTimeout(idle)
    const ended = thread
    thread = undefined
    await ended?.terminate()
  }
  const ask = async (question: Question) => {
    clearTimeout(idle)
    thread ??= startThread(options)
    try {
      const answer = await answerOf<Answer>(thread, question, options.answer_ms_max)
      idle = setTimeout(end, options.idle_ms).unref()
      return answer
    } catch (error) {
      await end()
      throw error
    }
  }
  return { ask: (question, signal) => slot.run(() => ask(question), signal), close: end }
}

function startThread({ file, memory }: AskedThreadOptions): Worker {
  const thread = new Worker(file, memory === undefined ? {} : { resourceLimits: memory })
  thread.unref()
  // A failure rejects the question that waits for an answer.
  thread.on('error', () => undefined)
  return thread
}

function answerOf<Answer>(thread: Worker, question: unknown, ms_max: number): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const settle = (act: () => void) => {
      clearTimeout(timer)
      thread.off('message', answered).off('error', failed).off('exit', ended)
      act()
    }
    const answered = (answer: Answer) => settle(() => resolve(answer))
    const failed = (cause: unknown) =>
      settle(() => reject(new ThreadFailed('the thread failed', { cause })))
    const ended = () => failed(new Error('the thread ended'))
    const timer = setTimeout(() => failed(new Error('no answer in time')), ms_max)
    thread.on('message', answered).on('error', failed).on('exit', ended)
    thread.postMessage(question)
  })
}
