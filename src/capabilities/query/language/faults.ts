/** What is wrong with a query, and where. */
export type QueryFault = { path: (string | number)[]; message: string }

/** Collects what is wrong, so that one answer can name it all. */
export type Faults = {
  add: (path: readonly (string | number)[], message: string) => undefined
  readonly list: readonly QueryFault[]
}

export function collectFaults(): Faults {
  const list: QueryFault[] = []
  return {
    list,
    add: (path, message) => {
      list.push({ path: [...path], message })
      return undefined
    },
  }
}

/** What came, cut to 80 characters, and what was expected. */
export function unexpected(input: unknown, expected: string): string {
  return `got ${JSON.stringify(input)?.slice(0, 80)}, expected ${expected}`
}
