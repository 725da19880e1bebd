export type TurnsOptions = {
  running_max: number
  waiting_max: number
  /** Makes the error for work that can't even wait. */
  refusal: (detail: string) => Error
}

/** Lets so much work run at a time; the rest waits, up to a bound. */
export type Turns = {
  take<T>(work: () => Promise<T>): Promise<T>
  /** Takes no more work, then waits for what is here, at most so long; true when all ended. */
  close(patience_ms: number): Promise<boolean>
}

export function openTurns(options: TurnsOptions): Turns {
  const waiting: (() => void)[] = []
  const here = new Set<Promise<unknown>>()
  let running = 0
  let closed = false

  const begin = async (): Promise<void> => {
    if (closed) throw options.refusal('the server is stopping')
    if (running >= options.running_max) {
      if (waiting.length >= options.waiting_max) {
        throw options.refusal(`${running} statements run and ${waiting.length} wait`)
      }
      // The one that ends hands its place over, so `running` stays as it is.
      await new Promise<void>((resolve) => waiting.push(resolve))
    } else {
      running++
    }
  }
  const end = (): void => {
    const next = waiting.shift()
    if (next) next()
    else running--
  }
  const taken = async <T>(work: () => Promise<T>): Promise<T> => {
    await begin()
    try {
      return await work()
    } finally {
      end()
    }
  }
  return {
    take(work) {
      const turn = taken(work)
      here.add(turn)
      const forget = () => here.delete(turn)
      turn.then(forget, forget)
      return turn
    },
    async close(patience_ms) {
      closed = true
      const patience = Promise.withResolvers<boolean>()
      const timer = setTimeout(patience.resolve, patience_ms, false)
      const ended = Promise.allSettled(here).then(() => true)
      const allEnded = await Promise.race([ended, patience.promise])
      clearTimeout(timer)
      return allEnded
    },
  }
}
