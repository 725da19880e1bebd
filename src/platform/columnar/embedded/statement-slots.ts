import { Semaphore } from '../../../kernel/semaphore.ts'

type SlotLimits = {
  running_max: number
  waiting_max: number
  /** Makes the error for work that is neither run nor queued. */
  refusal: (detail: string) => Error
}

/** Bounds the statements that run and the statements that wait, and can be closed. */
type StatementSlots = {
  run<T>(work: () => Promise<T>): Promise<T>
  /**
   * Rejects new statements, then waits for accepted ones. Resolves with whether all ended in time.
   */
  close(patience_ms: number): Promise<boolean>
}

export function openStatementSlots({
  running_max,
  waiting_max,
  refusal,
}: SlotLimits): StatementSlots {
  const full = () => refusal(`${running_max} statements run and ${waiting_max} wait`)
  const semaphore = new Semaphore({
    permits_max: running_max,
    waiting: { max: waiting_max, refusal: full },
  })
  const accepted = new Set<Promise<unknown>>()
  let isClosed = false
  return {
    run(work) {
      if (isClosed) return Promise.reject(refusal('the server is stopping'))
      const result = semaphore.run(work)
      accepted.add(result)
      const forget = () => accepted.delete(result)
      result.then(forget, forget)
      return result
    },
    async close(patience_ms) {
      isClosed = true
      const patience = Promise.withResolvers<boolean>()
      const timer = setTimeout(patience.resolve, patience_ms, false)
      const ended = Promise.allSettled(accepted).then(() => true)
      const allEnded = await Promise.race([ended, patience.promise])
      clearTimeout(timer)
      return allEnded
    },
  }
}
