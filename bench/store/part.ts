import { startBenchEngine } from './engine.ts'
import type { StoreFacts } from './facts.ts'
import { load } from './load.ts'
import { measureQuestion, type QuestionFacts } from './measure.ts'
import { partitionBy } from './partitioning.ts'
import { questions } from './questions.ts'
import { measureRetention } from './retention.ts'

export type StoreOptions = {
  rounds: number
  /** Observations to generate; 1 M take 0.7 GB of disk and a minute. */
  rows: number
  /** Another partition key than the schema's, to compare. */
  partition_by?: string
}

/** The columnar store under a month of observations: what questions cost, and taking a day out. */
export async function measureStore(options: StoreOptions): Promise<StoreFacts> {
  const { rounds, rows, partition_by } = options
  const engine = await startBenchEngine()
  try {
    if (partition_by !== undefined) await partitionBy(engine.columnar, partition_by)
    const loaded = await load(engine, rows)
    console.log(loaded)
    const asked: QuestionFacts[] = []
    for (const question of questions()) {
      asked.push(await measureQuestion(engine, question, rounds))
      console.dir(asked.at(-1), { depth: 4 })
    }
    const retention = await measureRetention(engine)
    console.table(retention)
    return { rounds, load: loaded, questions: asked, retention }
  } finally {
    await engine.stop()
  }
}
