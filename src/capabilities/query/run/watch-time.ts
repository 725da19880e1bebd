import { sleep } from '../../../kernel/time.ts'
import { ColumnarUnavailable } from '../../../platform/columnar/index.ts'
import { QueryTooExpensive } from './contract.ts'

/** A server compares a statement's time with its limit between two blocks, later when it is busy. */
const grace_ms = 1_000
/** How long the server may take to say whether it still works on a statement. */
const ask_ms_max = 2_000
/** A statement that waited for a connection has time left at first, and is asked for again. */
const asks_max = 2

/** How long a client has to wait beyond the limit so that the watch is what ends a statement. */
export function patienceWith(limit_ms: number): number {
  return limit_ms + asks_max * (grace_ms + ask_ms_max)
}

/** `signal` aborts when the statement is to end, with the reason that its caller rejects with. */
export type TimeWatch = { signal: AbortSignal; stop(): void }

/**
 * Watches a statement that the server should end when its time is up. When it did not, asks the
 * server how long it has run the statement. Aborts with QueryTooExpensive when that is the limit or
 * more, and with ColumnarUnavailable when the server does not run it or does not answer.
 */
export function watchTime(
  limit_ms: number,
  about: { signal: AbortSignal; findElapsed_ms: () => Promise<number | undefined> },
): TimeWatch {
  const [ended, late] = [new AbortController(), new AbortController()]
  const watch = async () => {
    let wait_ms = limit_ms + grace_ms
    for (let asked = 0; asked < asks_max; asked += 1) {
      await sleep(wait_ms, ended.signal)
      if (ended.signal.aborted) return
      const elapsed_ms = await answerOf(about.findElapsed_ms)
      if (elapsed_ms === undefined) break
      if (elapsed_ms >= limit_ms) return late.abort(overTime(elapsed_ms))
      wait_ms = limit_ms - elapsed_ms + grace_ms
    }
    late.abort(new ColumnarUnavailable(`ClickHouse gave no answer within ${limit_ms} ms`))
  }
  void watch()
  return {
    signal: AbortSignal.any([about.signal, late.signal]),
    stop: () => ended.abort(),
  }
}

function overTime(elapsed_ms: number): QueryTooExpensive {
  const cause = new Error(`ClickHouse still ran the statement after ${Math.round(elapsed_ms)} ms`)
  return new QueryTooExpensive('time_ms_max', { cause })
}

/** The elapsed time; undefined when the server knows no such statement or gives no answer. */
function answerOf(ask: () => Promise<number | undefined>): Promise<number | undefined> {
  const noAnswer = new AbortController()
  const waited = sleep(ask_ms_max, noAnswer.signal).then(() => undefined)
  const answered = ask().catch(() => undefined)
  return Promise.race([answered, waited]).finally(() => noAnswer.abort())
}
