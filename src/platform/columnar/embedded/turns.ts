import { Semaphore } from '../../../kernel/semaphore.ts'

export type TurnsOptions = {
  running_max: number
  waiting_max: number
  /** Makes the error for work that can't even wait. */
  refusal: (detail: string) => Error
}

/** Limits the work that runs and the work that waits, and can be closed. */
export type Turns = {
  take<T>(work: () => Promise<T>): Promise<T>
  /** Refuses new work, then waits for the accepted work; returns whether all ended in time. */
  close(patience_ms: number): Promise<boolean>
}

export function openTurns({ running_max, waiting_max, refusal }: TurnsOptions): Turns {
  const full = () => refusal(`${running_max} statements run and ${waiting_max} wait`)
  const slots = new Semaphore({
    permits_max: running_max,
    waiting: { max: waiting_max, refusal: full },
  })
  const accepted = new Set<Promise<unknown>>()
  let isClosed = false
  return {
    take(work) {
      if (isClosed) return Promise.reject(refusal('the server is stopping'))
      const turn = slots.run(work)
      accepted.add(turn)
      const forget = () => accepted.delete(turn)
      turn.then(forget, forget)
      return turn
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
