/** Lets so many pieces of work run at a time; others wait, first come first served. */
export type Turns = { take<T>(work: () => Promise<T>): Promise<T> }

/** Who waits is bounded by who calls: the workers of the operator. */
export function createTurns(count_max: number): Turns {
  let running = 0
  const waiting: (() => void)[] = []
  return {
    take: async (work) => {
      if (running >= count_max) await new Promise<void>((resolve) => waiting.push(resolve))
      else running += 1
      try {
        return await work()
      } finally {
        const next = waiting.shift()
        if (next) next()
        else running -= 1
      }
    },
  }
}
