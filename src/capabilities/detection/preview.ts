import { z } from 'zod'
import { sleep } from '../../kernel/time.ts'
import { record } from '../../model/named-schemas.ts'
import { defineRoute, type Route } from '../../platform/http/index.ts'
import { findingKinds, severities } from './contract.ts'
import { analyseRun } from './findings/analyse-run.ts'
import type { Finding } from './findings/finding.ts'
import type { NewFinding } from './findings/new-findings.ts'
import { findLatestTasks, type TaskFacts } from './findings/tasks-store.ts'
import { compareFindings } from './findings/write-result.ts'
import type { DetectionPorts } from './ports.ts'
import { type DetectionSettings, findEffectiveSettings } from './settings/detector-settings.ts'
import { settingsBody } from './settings/settings.ts'
import { analyseTasks } from './worker/analyse-tasks.ts'

/** Maximum tasks of a preview: the project's most recent ones. */
const maxPreviewTasks = 200
/** Maximum time of a preview; the reply counts the tasks analysed until then. */
const preview_ms_max = 10_000
/** Tasks read together. */
const together_max = 10
/** Maximum calls of a previewed task; larger tasks are counted as skipped. */
const maxTaskCalls = 2_000

/**
 * POST /api/v1/detection/settings/preview: runs the detectors with other thresholds on a project's
 * latest tasks and returns which findings would be added, removed or changed. Nothing is written.
 */
export function previewDetectionSettings(deps: DetectionPorts): Route {
  return defineRoute({
    method: 'POST',
    url: '/api/v1/detection/settings/preview',
    id: 'previewDetectionSettings',
    summary: 'Preview the findings of other thresholds in stored tasks',
    audit: 'refusals',
    auth: 'jwt_or_key',
    scope: { level: 'project', role: 'editor', key: 'tasks:write' },
    body: settingsBody
      .extend({
        tasks_max: z
          .int()
          .min(1)
          .max(maxPreviewTasks)
          .default(50)
          .describe('Maximum tasks, 1–200: the project’s most recent ones.'),
      })
      .meta({ id: 'PreviewDetectionRequest' }),
    reply,
    errors: ['store_unavailable'],
    handle: async ({ body, caller: { project_id }, signal }) => {
      const { settings } = await findEffectiveSettings(deps.db, project_id)
      const both = { now: settings, asked: body.detectors }
      const found = await findLatestTasks(deps.db, project_id, body.tasks_max)
      return previewChanges(deps, { found, both, signal })
    },
  })
}

const changeSchema = record('FindingChange', {
  task_id: z.string(),
  change: z.enum(['added', 'removed', 'changed']),
  kind: z.enum(findingKinds),
  type: z.string(),
  severity: z
    .enum(severities)
    .describe('Severity with the requested thresholds; current severity of a removed finding.'),
  severity_now: z
    .enum(severities)
    .nullable()
    .describe('Severity with the current thresholds; null for an added finding.'),
  summary: z.string(),
  start_step: z.int().nullable(),
  end_step: z.int().nullable(),
})

const reply = record('DetectionPreview', {
  tasks: z.int().nonnegative().describe('Number of tasks analysed.'),
  skipped: z
    .int()
    .nonnegative()
    .describe('Number of tasks left out: too large, or the time limit was reached.'),
  findings_now: z.int().nonnegative(),
  findings_asked: z.int().nonnegative(),
  by_type: z
    .array(
      record('FindingTypeChange', {
        type: z.string(),
        now: z.int().nonnegative(),
        asked: z.int().nonnegative(),
      }),
    )
    .describe('Findings per type with the current and with the requested thresholds.'),
  changes: z.array(changeSchema).describe('The first 500 changes.'),
})

const changes_max = 500

type ComparedSettings = { now: DetectionSettings; asked: DetectionSettings }
type PreviewRequest = { found: readonly TaskFacts[]; both: ComparedSettings; signal: AbortSignal }

async function previewChanges(
  deps: DetectionPorts,
  { found, both, signal }: PreviewRequest,
): Promise<z.input<typeof reply>> {
  const end_ms = deps.clock.now_ms() + preview_ms_max
  const fit = found.filter(({ calls }) => calls <= maxTaskCalls)
  const changes: z.input<typeof changeSchema>[] = []
  const counts = new Map<string, { now: number; asked: number }>()
  let tasks = 0
  for (let at = 0; at < fit.length; at += together_max) {
    if (signal.aborted || deps.clock.now_ms() > end_ms) break
    for (const compared of await analyseBoth(deps, fit.slice(at, at + together_max), both)) {
      tasks += 1
      countTypes(counts, compared)
      changes.push(...listChanges(compared))
    }
    // Lets other requests proceed.
    await sleep(0)
  }
  const by_type = [...counts].map(([type, count]) => ({ type, ...count })).toSorted(compareTypes)
  return {
    tasks,
    skipped: found.length - tasks,
    by_type,
    findings_now: by_type.reduce((sum, { now }) => sum + now, 0),
    findings_asked: by_type.reduce((sum, { asked }) => sum + asked, 0),
    changes: changes.slice(0, changes_max),
  }
}

function compareTypes(a: { type: string }, b: { type: string }): number {
  return a.type < b.type ? -1 : 1
}

type ComparedTask = { task_id: string; now: NewFinding[]; asked: NewFinding[] }

async function analyseBoth(
  deps: DetectionPorts,
  tasks: readonly TaskFacts[],
  { now, asked }: ComparedSettings,
): Promise<ComparedTask[]> {
  const analyses = await analyseTasks(
    deps,
    tasks.map((facts) => ({ facts, epoch: '', history: undefined, settings: now })),
  )
  return analyses.map(({ facts, run, prior, analysis }) => ({
    task_id: facts.task_id,
    now: analysis.findings,
    asked: analyseRun(run, asked, prior).findings,
  }))
}

function countTypes(
  counts: Map<string, { now: number; asked: number }>,
  { now, asked }: ComparedTask,
): void {
  const countOf = (type: string) => {
    const known = counts.get(type) ?? { now: 0, asked: 0 }
    counts.set(type, known)
    return known
  }
  for (const { type } of now) countOf(type).now += 1
  for (const { type } of asked) countOf(type).asked += 1
}

function listChanges({ task_id, now, asked }: ComparedTask): z.input<typeof changeSchema>[] {
  const stored = now.map(toStored)
  const all = { stored, found: asked, wasAnalysed: () => true, isThere: () => true }
  const { changes, put, withdrawn } = compareFindings(all)
  const before = new Map(now.map((finding) => [finding.finding_id, finding]))
  const added = put.map((finding) => {
    const was = before.get(finding.finding_id)
    const change = changes.opened.includes(finding.finding_id) ? 'added' : 'changed'
    return toChange(task_id, change, { finding, severity_now: was?.severity ?? null })
  })
  const removed = withdrawn.flatMap((id) => {
    const finding = before.get(id)
    if (finding === undefined) return []
    return [toChange(task_id, 'removed', { finding, severity_now: finding.severity })]
  })
  return [...added, ...removed]
}

function toStored(finding: NewFinding): Finding {
  return { ...finding, first_detected_at: '', updated_at: '' }
}

type PreviewedFinding = { finding: NewFinding; severity_now: NewFinding['severity'] | null }

function toChange(
  task_id: string,
  change: 'added' | 'removed' | 'changed',
  { finding, severity_now }: PreviewedFinding,
): z.input<typeof changeSchema> {
  const { kind, type, severity, summary, start_step, end_step } = finding
  return {
    task_id,
    change,
    kind,
    type,
    severity,
    severity_now,
    summary,
    start_step,
    end_step,
  }
}
