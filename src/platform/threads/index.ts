import { parentPort, type ResourceLimits, Worker } from 'node:worker_threads'
import { Semaphore } from '../../kernel/semaphore.ts'

/** A thread that answers questions, one at a time, so that long work blocks no request. */
export type AnsweringThread<Question, Answer> = {
  /**
   * Rejects with `failed` when the thread breaks or is late, and with `refusal` when many wait. The
   * signal ends the wait for earlier questions.
   */
  ask(question: Question, signal?: AbortSignal): Promise<Answer>
  /** Ends the thread. The next question starts another one. */
  close(): Promise<void>
}

type AnsweringThreadOptions = {
  /** File that calls `serveThread`. */
  file: URL
  /** Time after which an answer is given up; the thread ends with it. */
  answer_ms_max: number
  /** Maximum questions that wait for the thread. */
  waiting: { max: number; refusal: () => Error }
  /** Returns the error of a question that the thread could not answer. */
  failed: (cause: unknown) => Error
  /** Memory of the thread, which breaks above it. Default: that of the process. */
  memory?: ResourceLimits
}

type Asked<Question> = { id: number; question: Question }
type Answered<Answer> = { id: number; answer: Answer }

/** Time without a question after which the thread ends. */
const idle_ms = 60_000

/** Creates a thread. It starts with the first question and ends a minute after the last. */
export function createAnsweringThread<Question, Answer>(
  options: AnsweringThreadOptions,
): AnsweringThread<Question, Answer> {
  const slot = new Semaphore({ permits_max: 1, waiting: options.waiting })
  let thread: Worker | undefined
  let idle: NodeJS.Timeout | undefined
  let asked = 0
  const end = async () => {
    clearTimeout(idle)
    const ended = thread
    thread = undefined
    await ended?.terminate()
  }
  const ask = async (question: Question) => {
    clearTimeout(idle)
    thread ??= startThread(options)
    asked += 1
    try {
      return await askThread<Question, Answer>(thread, { id: asked, question }, options)
    } catch (error) {
      await end()
      throw error
    } finally {
      idle = setTimeout(end, idle_ms).unref()
    }
  }
  return { ask: (question, signal) => slot.run(() => ask(question), signal), close: end }
}

/** Answers the questions of `createAnsweringThread`. Does nothing outside of a thread. */
export function serveThread<Question, Answer>(
  answer: (question: Question) => Answer | Promise<Answer>,
): void {
  parentPort?.on('message', async ({ id, question }: Asked<Question>) => {
    const answered: Answered<Answer> = { id, answer: await answer(question) }
    parentPort?.postMessage(answered)
  })
}

function startThread({ file, memory }: AnsweringThreadOptions): Worker {
  const thread = new Worker(file, memory === undefined ? {} : { resourceLimits: memory })
  thread.unref()
  // A failure rejects the question that waits for an answer.
  thread.on('error', () => undefined)
  return thread
}

function askThread<Question, Answer>(
  thread: Worker,
  asked: Asked<Question>,
  { answer_ms_max, failed }: Pick<AnsweringThreadOptions, 'answer_ms_max' | 'failed'>,
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const settle = (act: () => void) => {
      clearTimeout(timer)
      thread.off('message', onAnswer)
      thread.off('error', onFailure)
      act()
    }
    const onAnswer = ({ id, answer }: Answered<Answer>) => {
      if (id === asked.id) settle(() => resolve(answer))
    }
    const onFailure = (cause: unknown) => settle(() => reject(failed(cause)))
    const timer = setTimeout(() => onFailure(new Error('no answer in time')), answer_ms_max)
    thread.on('message', onAnswer)
    thread.on('error', onFailure)
    thread.postMessage(asked)
  })
}
