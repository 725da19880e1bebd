import { inject } from 'vitest'
import { askBroker } from './broker.ts'

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
export function testPostgres(kind: 'migrated' | 'empty' = 'migrated'): Promise<string> {
  return askBroker(`${inject('postgres_broker')}/${kind}`)
}
