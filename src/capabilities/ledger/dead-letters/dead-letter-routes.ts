import type { Route } from '../../../platform/http/index.ts'
import type { DeadLetterDeps } from './dead-letter-deps.ts'
import { listDeadLetters } from './dead-letters.ts'
import { replayDeadLetter } from './replay.ts'

/** The routes under `/api/v2/observability/dead-letters`. */
export function deadLetterRoutes(deps: DeadLetterDeps): Route[] {
  return [listDeadLetters(deps), replayDeadLetter(deps)]
}
