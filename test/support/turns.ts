import { expect } from 'vitest'
import { runDetectors } from '../../src/capabilities/detection/analyse/run-detectors.ts'
import { reconstruct, type TaskRun } from '../../src/capabilities/detection/reconstruction/index.ts'
import { defaultDetectionSettings } from '../../src/capabilities/detection/settings/detector-settings.ts'
import { buildTurns } from '../../src/capabilities/tasks/turns/build-turns.ts'
import {
  type FindingPlaces,
  markFindings,
} from '../../src/capabilities/tasks/turns/mark-findings.ts'
import type { Turn } from '../../src/capabilities/tasks/turns/turn-schema.ts'
import type { Observation } from '../../src/model/observation.ts'

const settings = defaultDetectionSettings()

/** Limits that cut nothing that a run keeps. */
export const wholeTexts = {
  text_chars: 1_000_000,
  turn_chars: 100_000_000,
  messages: 100_000,
  page_chars: 1_000_000_000,
}

/** Returns the findings of a run, as turns read them. */
export function findingsOfRun(run: TaskRun): (FindingPlaces & { type: string })[] {
  return runDetectors(run, settings).findings.map(({ anchor, ...finding }, at) => ({
    ...finding,
    finding_id: `${at} ${finding.type} ${anchor}`,
    places: [...finding.places],
  }))
}

/** Returns the turns of observations, with the run and the findings that they come from. */
export function turnsOf(rows: readonly Observation[], limits = wholeTexts) {
  const run = reconstruct(rows, undefined, { keeps_reasoning: true })
  const findings = findingsOfRun(run)
  const marks = markFindings(run, findings)
  return { run, findings, turns: buildTurns(run, run.calls, { marks, limits }) }
}

/** Returns the roles and texts of new messages and answers of some turns, in order. */
export function saidIn(turns: readonly Turn[]): string[] {
  return turns.flatMap(({ messages, answer }) => [
    ...messages.map(({ role, text }) => `${role} ${text}`),
    ...(answer === null ? [] : [`assistant ${answer.text?.text ?? ''}`]),
  ])
}

/** Checks what holds for the turns of every run. */
export function checkTurns(run: TaskRun, turns: readonly Turn[]): void {
  const uses = turns.flatMap(({ tool_uses }) => tool_uses.map(({ index }) => index))
  // A task of nothing but tools has no model call, and so no turn.
  const shown = run.calls.length === 0 ? [] : [...run.tools.keys()]
  expect(uses.toSorted((a, b) => a - b)).toEqual(shown)
  const fresh = run.messages.filter(({ step }) => step === null)
  expect(turns.reduce((sum, { messages }) => sum + messages.length, 0)).toBe(fresh.length)
  expect(turns.map(({ turn }) => turn)).toEqual([...run.calls.keys()])
  expect(turns.flatMap(({ step }) => step ?? []).toSorted((a, b) => a - b)).toEqual([
    ...run.steps.keys(),
  ])
}
