import type { Route } from '../../../platform/http/index.ts'
import { type DeadLetterDeps, listDeadLetters } from './dead-letters.ts'
import { replayDeadLetter } from './replay.ts'

export { toDeadLetterRecord } from './dead-letters.ts'
export { everyDeadLetter, replayAll } from './replay.ts'

/** Returns the routes under `/api/v2/observability/dead-letters`. */
export function deadLetterRoutes(deps: DeadLetterDeps): Route[] {
  return [listDeadLetters(deps), replayDeadLetter(deps)]
}
