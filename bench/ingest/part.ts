import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { median } from '../rounds.ts'
import { pin } from '../service.ts'
import { measureDrain } from './drain.ts'
import { measureEdge } from './edge.ts'
import type { IngestFacts, StageRow } from './facts.ts'
import type { SpanShape } from './spans.ts'
import { measureSteady } from './steady.ts'

const stageShapes: readonly SpanShape[] = ['gen_ai', 'openinference', 'plain']
const maxDrainRounds = 3
const slicesPerRound = 4

/** The ingest plane: its edge, its worker, and both under a steady load for some minutes. */
export async function measureIngest(rounds: number, minutes: number): Promise<IngestFacts> {
  await pin(process.pid, 1)
  const stages: IngestFacts['stages'] = []
  for (const shape of stageShapes) {
    stages.push({ shape, rows: await stageRows(shape, rounds * slicesPerRound) })
    console.table(stages.at(-1)?.rows)
  }
  const edge = await measureEdge(
    {
      gen_ai: ['protobuf', 'json', 'gzip', 'grpc'],
      openinference: ['protobuf', 'json'],
      plain: ['protobuf', 'json'],
    },
    rounds,
  )
  console.table(edge)
  const drain = await measureDrain(Math.min(rounds, maxDrainRounds))
  console.log(drain)
  const steady = await measureSteady(minutes)
  console.dir(steady, { depth: 4 })
  return { rounds, stages, edge, drain, steady }
}

/** Runs the stages of a shape in a separate process, alone on processor 0. */
async function stageRows(shape: SpanShape, slices: number): Promise<StageRow[]> {
  const file = fileURLToPath(new URL('../targets/ingest-stages.ts', import.meta.url))
  const child = spawn('taskset', ['-c', '0', process.execPath, file, shape, String(slices)], {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  })
  const [found] = (await once(child, 'message')) as [{ name: string; cpu_us: number[] }[]]
  const floor = found[0]?.cpu_us ?? []
  return found.map(({ name, cpu_us }) => ({
    name,
    cpu_us: median(cpu_us),
    ratio: median(cpu_us.map((value, round) => value / (floor[round] ?? Number.NaN))),
    lowest: Math.min(...cpu_us),
  }))
}
