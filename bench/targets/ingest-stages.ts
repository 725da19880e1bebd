import { setFlagsFromString } from 'node:v8'
import type { SpanShape } from '../ingest/spans.ts'
import { stagesOf } from '../ingest/stages.ts'

/**
 * Measures the stages of one shape in a separate process, whose processor time (all threads)
 * belongs only to them. Slices alternate in rotating order; the parent gets µs per span by stage
 * and slice. They are short, so that some of them are hardly disturbed on a shared machine.
 */
const [shape = 'gen_ai', slices = '90', slice_ms = '30'] = process.argv.slice(2)
const warmUpSlices = 10

// As src/main.ts does for every role.
setFlagsFromString('--external-memory-accounted-in-global-limit')

const stages = stagesOf(shape as SpanShape).map((stage) => ({ ...stage, cpu_us: [] as number[] }))
for (let round = 0; round < warmUpSlices; round += 1) {
  for (const stage of stages) await slice(stage)
}
for (let round = 0; round < Number(slices); round += 1) {
  const at = round % stages.length
  for (const stage of [...stages.slice(at), ...stages.slice(0, at)]) {
    stage.cpu_us.push(await slice(stage))
  }
}
process.send?.(stages.map(({ name, cpu_us }) => ({ name, cpu_us })))
process.disconnect?.()

/** Processor time per span of one slice. */
async function slice({ spans, run }: { spans: number; run: () => unknown }): Promise<number> {
  const start_ms = performance.now()
  const before = process.cpuUsage()
  let done = 0
  while (performance.now() - start_ms < Number(slice_ms)) {
    await run()
    done += spans
  }
  const { user, system } = process.cpuUsage(before)
  return (user + system) / done
}
