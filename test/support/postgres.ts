import { inject } from 'vitest'

declare module 'vitest' {
  interface ProvidedContext {
    /** Where `global-setup.ts` hands out databases. */
    postgres_broker: string
  }
}

/**
 * A database of one's own, for a test file or a test: migrated (a copy of a template, some 20 ms)
 * or, with `empty`, without any table. All are on one embedded server, which the first call of a
 * run starts and the end of the run removes; there is nothing to clean up.
 */
export async function testPostgres(kind: 'migrated' | 'empty' = 'migrated'): Promise<string> {
  const broker = inject('postgres_broker')
  const answer = await fetch(`${broker}/${kind}`, { method: 'POST' })
  const text = await answer.text()
  if (!answer.ok) throw new Error(`no database for the test: ${text}`)
  return text
}
