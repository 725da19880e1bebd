import type { ArchiveFacts } from './archives.ts'
import type { HotFacts } from './hot-window.ts'
import type { LoadFacts } from './load.ts'
import type { QuestionFacts } from './measure.ts'
import type { RetentionFacts } from './retention.ts'
import type { RouteFacts } from './routes.ts'

/** Results of the store part, for one size. */
export type StoreFacts = {
  rounds: number
  /** The whole part, including the load. */
  took_s: number
  load: LoadFacts
  questions: QuestionFacts[]
  routes: RouteFacts[]
  hot: HotFacts
  archive: ArchiveFacts
  retention: RetentionFacts
}

/** Questions to which two ways gave different answers; there should be none. */
export function unequalAnswers({ questions, routes, hot }: StoreFacts): string[] {
  return [...questions, ...routes, ...hot.questions]
    .filter(({ equal }) => !equal)
    .map(({ name }) => name)
}
