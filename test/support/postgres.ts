import { inject } from 'vitest'

declare module 'vitest' {
  interface ProvidedContext {
    /** Where `global-setup.ts` serves databases. */
    postgres_broker: string
  }
}

/**
 * Creates a database for a test file or a test: migrated (a copy of a template, about 20 ms) or,
 * with `empty`, without tables. All are on one embedded server, which the first call of a run
 * starts and the end of the run removes; no clean-up is needed.
 */
export async function testPostgres(kind: 'migrated' | 'empty' = 'migrated'): Promise<string> {
  const broker = inject('postgres_broker')
  const answer = await fetch(`${broker}/${kind}`, { method: 'POST' })
  const text = await answer.text()
  if (!answer.ok) throw new Error(`no database for the test: ${text}`)
  return text
}
