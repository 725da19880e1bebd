import { z } from 'zod'
import { findAnnouncement } from '../../../provenance/text/index.ts'
import type { Detector, FindingDraft, Severity } from '../../contract.ts'
import {
  callOf,
  cutText,
  hasSucceeded,
  natureOfTool,
  noWaste,
  placesOfSteps,
  remember,
  toFailureDraft,
  turnsOf,
} from '../../facts/index.ts'
import type { Step, TaskRun, Thread } from '../../reconstruction/index.ts'

const settings = z.strictObject({})

/**
 * Finds agents that stopped too early: the last answer announces an action without performing it,
 * or the task failed while no answer had used the results of its tools.
 */
export const prematureStop: Detector<typeof settings> = {
  name: 'premature_stop',
  kind: 'failure',
  types: ['premature_stop'],
  version: 2,
  needs: ['texts'],
  settings,
  detect(run, _settings, budget) {
    return run.threads.flatMap((thread) => {
      budget.spend(thread.steps.length)
      const turns = turnsOf(run, thread)
      const announced = turns.flatMap((turn, at) => {
        const last = turn.at(-1)
        return last === undefined ? [] : findAnnouncedStop(run, last, at < turns.length - 1)
      })
      return [...announced, ...findOpenStop(run, thread)]
    })
  },
}

function findAnnouncedStop(run: TaskRun, step: Step, wentOn: boolean): FindingDraft[] {
  const call = callOf(run, step)
  if (step.tools.length > 0 || !step.text || step.is_partial || !hasTools(run, step)) return []
  if (call === undefined || !/^(?:stop|end_turn|)$/.test(call.finish_reason)) return []
  const announced = readAnnouncement(step)
  if (announced === undefined) return []
  const finding = toFinding(run, step, {
    severity: 'medium',
    recovered: wentOn,
    summary: `The agent stopped after it had announced what it would do next: “${cutText(announced, quote_chars_max)}”.`,
    confidence: 0.8,
    evidence: { announced: cutText(announced) },
  })
  return [finding]
}

const readAnnouncement = remember(({ text }: Step) => findAnnouncement(text ?? ''))

/** Tells whether tools were available; without tools the model acts by talking. */
function hasTools(run: TaskRun, step: Step): boolean {
  const declared = callOf(run, step)?.tools
  if (declared !== undefined) return declared.length > 0
  return (run.threads[step.thread]?.steps ?? []).some(
    (at) => (run.steps[at]?.tools.length ?? 0) > 0,
  )
}

const quote_chars_max = 120

/**
 * Finds a failed task that ended with open tool calls; other tasks may still wait for their tools.
 */
function findOpenStop(run: TaskRun, thread: Thread): FindingDraft[] {
  if (run.state !== 'failed' || thread.kind !== 'root') return []
  const step = run.steps[thread.steps.at(-1) ?? -1]
  const call = step && callOf(run, step)
  if (step === undefined || call === undefined || step.tools.length === 0) return []
  if (thread.calls.at(-1) !== call.index || !hasSucceeded(call)) return []
  const tools = step.tools.flatMap((at) => run.tools[at] ?? [])
  if (tools.some(({ name }) => natureOfTool(name).isEnd)) return []
  const finding = toFinding(run, step, {
    severity: 'medium',
    recovered: false,
    summary: `The task failed while “${tools[0]?.name ?? ''}” was asked for; no answer used its result.`,
    confidence: 0.8,
    evidence: { tools: tools.map(({ name }) => name).slice(0, tools_max) },
  })
  return [finding]
}

const tools_max = 10

type Stop = Pick<FindingDraft, 'recovered' | 'summary' | 'confidence' | 'evidence'> & {
  severity: Severity
}

function toFinding(run: TaskRun, step: Step, stop: Stop): FindingDraft {
  const [place] = placesOfSteps(run, [step.index])
  return toFailureDraft({
    type: 'premature_stop',
    ...stop,
    began: place ?? { trace_id: '', observation_id: `${step.index}` },
    start_step: step.index,
    end_step: step.index,
    places: place === undefined ? [] : [place],
    waste: noWaste,
  })
}
