import type { FindingKind, FindingType } from '../../src/model/finding-kind.ts'
import type { Observation } from '../../src/model/observation.ts'
import { type AgentRun, type AgentRunOptions, agentRun, type RunSource } from './agent-run.ts'

/** A fault of a run, as a reader of the rules labels it who does not know the detectors. */
export type Label = {
  kind: FindingKind
  type: FindingType<FindingKind>
  /** The step that it begins with; omitted if no step has it, as for a failed call. */
  start_step?: number
}

/** A label before its run is written: `at` names the mark of the step that it begins with. */
export type LabelDraft = Pick<Label, 'kind' | 'type'> & { at: string }

export type LabelledRun = {
  name: string
  labels: readonly Label[]
  /** Types on which two readers of the rules may disagree here: they count neither way. */
  may: readonly string[]
  /** A healthy run that looks like trouble. */
  healthy: boolean
  observations(): Observation[]
  /** The rows of the same run, recorded by another source. */
  toldBy(source: RunSource): Observation[]
}

type Write = (run: AgentRun) => AgentRun

type Options = AgentRunOptions & {
  may?: readonly string[]
  /** Changes the rows: drops some, or adds a second recording. */
  rows?: (rows: Observation[]) => Observation[]
}

/** A run with faults: each label begins at the step that the run marks for it. */
export function ill(
  name: string,
  labels: readonly LabelDraft[],
  write: Write,
  options: Options = {},
): LabelledRun {
  const { may = [], rows = (all) => all, ...about } = options
  const run = write(agentRun(name, about))
  const placed = labels.map(({ at, ...label }) => {
    const start_step = run.step(at)
    return start_step === undefined ? label : { ...label, start_step }
  })
  let made: Observation[] | undefined
  const observations = () => {
    made ??= rows(run.observations())
    return [...made]
  }
  const toldBy = (source: RunSource) => write(agentRun(name, { ...about, source })).observations()
  return { name, labels: placed, may, healthy: labels.length === 0, observations, toldBy }
}

/** A healthy run that looks like trouble. */
export function healthy(name: string, write: Write, options: Options = {}): LabelledRun {
  return ill(name, [], write, options)
}

export function loop(type: FindingType<'loop'>, at = 'start'): LabelDraft {
  return { kind: 'loop', type, at }
}

export function failure(type: FindingType<'failure'>, at = 'start'): LabelDraft {
  return { kind: 'failure', type, at }
}

export function claim(at = 'start'): LabelDraft {
  return { kind: 'claim', type: 'unsupported_value', at }
}

export function context(type: FindingType<'context'>, at = 'start'): LabelDraft {
  return { kind: 'context', type, at }
}
