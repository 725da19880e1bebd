import { readFileSync } from 'node:fs'

/** An instruction (`RUN`, `COPY`, …) and its arguments. */
export type Step = { word: string; rest: string }
export type Stage = { base: string; steps: Step[] }

/** The stages of a Dockerfile by name. No heredocs, line continuations or variables. */
export function stagesOf(path: string): Map<string, Stage> {
  const stages = new Map<string, Stage>()
  let stage: Stage | undefined
  for (const line of readFileSync(path, 'utf8').split('\n')) {
    const [, word = '', rest = ''] = /^([A-Z]+)\s+(.+)$/.exec(line) ?? []
    const [, base = '', name = ''] = word === 'FROM' ? (/^(\S+) AS (\S+)$/.exec(rest) ?? []) : []
    if (name !== '') {
      stage = { base: base.toLowerCase(), steps: [] }
      stages.set(name, stage)
    } else if (word !== '') stage?.steps.push({ word, rest })
  }
  return stages
}

/** The image's configuration of its processes. */
export function imageOf(path: string, stage: string): { user: string; entrypoint: string[] } {
  const steps = stagesOf(path).get(stage)?.steps ?? []
  const last = (word: string) => steps.findLast((step) => step.word === word)?.rest ?? ''
  return { user: last('USER'), entrypoint: JSON.parse(last('ENTRYPOINT')) }
}
