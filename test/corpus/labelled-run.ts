import type { FindingKind } from '../../src/capabilities/detection/contract.ts'
import type { FailureType } from '../../src/capabilities/detection/facts/failure-draft.ts'
import type { Observation } from '../../src/model/observation.ts'
import { type AgentRun, type AgentRunOptions, agentRun, type RunSource } from './agent-run.ts'

export type LoopType =
  | 'repeat_call'
  | 'repeat_error'
  | 'cycle'
  | 'error_streak'
  | 'scattered_repeat'
  | 'monologue'
  | 'content_chant'
  | 'similar_call'
  | 'budget'

export type ContextType =
  | 'lost_context'
  | 'contradicted_fact'
  | 'repeated_question'
  | 'context_truncated'
  | 'context_overflow'
  | 'conversation_reset'

/** What went wrong in a run, as a reader of the rules says it who does not know the detectors. */
export type Label = {
  kind: FindingKind
  type: LoopType | FailureType | ContextType
  /** The step that it begins with; left out when no step says it, as for a call that failed. */
  start_step?: number
}

/** A label before its run is written: `at` names the mark of the step that it begins with. */
export type LabelDraft = Pick<Label, 'kind' | 'type'> & { at: string }

export type LabelledRun = {
  name: string
  labels: readonly Label[]
  /** Types that two readers of the rules may judge differently here: they count neither way. */
  may: readonly string[]
  /** It looks like trouble, and is none. */
  healthy: boolean
  observations(): Observation[]
  /** The rows of the same run, had somebody else told of it. */
  toldBy(source: RunSource): Observation[]
}

type Write = (run: AgentRun) => AgentRun

type Options = AgentRunOptions & {
  may?: readonly string[]
  /** Makes other rows of them: some are lost, or somebody else told of the same as well. */
  rows?: (rows: Observation[]) => Observation[]
}

/** A run with something wrong: each label holds from the step that the run marks for it. */
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

/** A run that looks like trouble, and is none. */
export function healthy(name: string, write: Write, options: Options = {}): LabelledRun {
  return ill(name, [], write, options)
}

export function loop(type: LoopType, at = 'start'): LabelDraft {
  return { kind: 'loop', type, at }
}

export function failure(type: FailureType, at = 'start'): LabelDraft {
  return { kind: 'failure', type, at }
}

export function context(type: ContextType, at = 'start'): LabelDraft {
  return { kind: 'context', type, at }
}
