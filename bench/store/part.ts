import { type ArchiveFacts, measureArchives } from './archives.ts'
import { type BenchEngine, startBenchEngine } from './engine.ts'
import type { StoreFacts } from './facts.ts'
import { type HotFacts, measureHotWindow } from './hot-window.ts'
import { load } from './load.ts'
import { measureQuestion, type QuestionFacts } from './measure.ts'
import { partitionBy } from './partitioning.ts'
import { questions } from './questions.ts'
import { measureRetention } from './retention.ts'
import { measureRoutes, type RouteFacts } from './routes.ts'
import { startServices } from './services.ts'

export type StoreOptions = {
  rounds: number
  /** Observations to generate; 1 M take 0.7 GB of disk and a minute. */
  rows: number
  /** A partition key other than the schema's, to compare. */
  partition_by?: string
}

/**
 * The stores with a month of observations: the cost of queries alone, through the API and in both
 * stores, of archives, and of deleting a day.
 */
export async function measureStore(options: StoreOptions): Promise<StoreFacts> {
  const { rounds, rows, partition_by } = options
  const start_ms = performance.now()
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
    const { routes, hot, archive } = await besideServices(engine, rounds)
    const retention = await measureRetention(engine)
    console.table(retention)
    const took_s = (performance.now() - start_ms) / 1000
    return { rounds, took_s, load: loaded, questions: asked, routes, hot, archive, retention }
  } finally {
    await engine.stop()
  }
}

type BesideServices = { routes: RouteFacts[]; hot: HotFacts; archive: ArchiveFacts }

/**
 * The measurements that need PostgreSQL and the api, which run only for them, to avoid disturbance.
 */
async function besideServices(engine: BenchEngine, rounds: number): Promise<BesideServices> {
  await using services = await startServices(engine)
  const routes = await measureRoutes(engine, services, rounds)
  console.table(routes)
  const hot = await measureHotWindow(engine, services, rounds)
  console.dir(hot, { depth: 4 })
  const archive = await measureArchives(engine, services)
  console.dir(archive, { depth: 4 })
  return { routes, hot, archive }
}
