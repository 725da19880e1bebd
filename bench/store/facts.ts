import type { LoadFacts } from './load.ts'
import type { QuestionFacts } from './measure.ts'
import type { RetentionFacts } from './retention.ts'

/** What the store part measures, of one size. */
export type StoreFacts = {
  rounds: number
  load: LoadFacts
  questions: QuestionFacts[]
  retention: RetentionFacts
}
