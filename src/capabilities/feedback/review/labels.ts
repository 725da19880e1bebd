import { z } from 'zod'
import { problem } from '../../../kernel/problem.ts'
import { expected } from '../../../model/list-query.ts'
import { record } from '../../../model/named-schemas.ts'
import { refuseUnstorable } from '../../../model/storable.ts'
import { defineRoute, type Route, requesterOf } from '../../../platform/http/index.ts'
import { taskNamed, taskPath } from '../../tasks/index.ts'
import { personVerdicts } from '../../verification/index.ts'
import { type InsightDeps, labelReadScope, reviewScope } from '../contract.ts'
import {
  deleteLabel,
  labelsOfTasks,
  ownFindings,
  putLabel,
  reviewLabels,
  type StoredLabel,
} from './labels-store.ts'

const url = '/api/v1/feedback/review/{task_id}/labels'
const findings_max = 50
/** Claims of a task that the queue shows, and verdicts on claims in a label. */
export const claims_max = 50
const reason_chars_max = 2_000

const verdictSchema = record('FindingVerdict', {
  finding_id: z.uuid().describe('A finding of the task.'),
  verdict: z.enum(['right', 'wrong'], { error: expected('right or wrong') }),
})

const claimVerdict = {
  claim_id: z.uuid().describe('A claim of the task, of any of its verifications.'),
  verdict: z.enum(personVerdicts, { error: expected(personVerdicts.join(' or ')) }),
}

const claimVerdictRequest = record('ClaimVerdictRequest', {
  ...claimVerdict,
  reason: z
    .string()
    .trim()
    .min(1, { error: 'expected a reason, 1 to 2,000 characters' })
    .max(reason_chars_max, { error: 'expected at most 2,000 characters' })
    .nullable()
    .default(null)
    .describe('Why the verdict is right, for other people; 1–2,000 characters.'),
})

const labelBody = record('ReviewLabelRequest', {
  label: z
    .enum(reviewLabels, { error: expected(reviewLabels.join(', ')) })
    .describe('Whether the agent did the task correctly.'),
  findings: z
    .array(verdictSchema)
    .max(findings_max, { error: `expected at most ${findings_max} findings` })
    .default([])
    .describe('Verdicts on findings of the task; they replace the caller’s earlier ones.'),
  claims: z
    .array(claimVerdictRequest)
    .max(claims_max, { error: `expected at most ${claims_max} claims` })
    .default([])
    .describe('Verdicts on claims of the task; they replace the caller’s earlier ones.'),
}).superRefine(refuseUnstorable)

/** A label of a task, in replies. */
export const labelSchema = record('ReviewLabel', {
  reviewer: z.string().describe('`user:<id>` or `service_account:<id>`.'),
  label: z.enum(reviewLabels).meta({ id: 'ReviewLabelName' }),
  findings: z.array(verdictSchema),
  claims: z.array(record('ReviewClaimVerdict', { ...claimVerdict, reason: z.string().nullable() })),
  version: z
    .int()
    .min(1)
    .describe('Version of the label: 1, and one more for each change by its reviewer.'),
  created_at: z.iso.datetime(),
  updated_at: z.iso.datetime(),
})

const labelList = record('ReviewLabelList', {
  task_id: z.string(),
  labels: z.array(labelSchema).describe('One label of each reviewer, in order of reviewers.'),
})

/** GET /api/v1/feedback/review/{task_id}/labels: the labels of all reviewers of a task. */
export function listReviewLabels({ db }: InsightDeps): Route {
  return defineRoute({
    method: 'GET',
    url,
    id: 'listReviewLabels',
    summary: 'Labels of a task by its reviewers',
    audit: 'content',
    auth: 'jwt',
    scope: labelReadScope,
    params: taskPath,
    reply: labelList,
    errors: ['task_not_found', 'store_unavailable'],
    handle: async ({ params, caller: { project_id } }) => {
      const { task_id } = await taskNamed({ db }, project_id, params.task_id)
      return { task_id, labels: (await labelsOfTasks(db, project_id, [task_id])).map(toLabel) }
    },
  })
}

/**
 * POST /api/v1/feedback/review/{task_id}/labels: stores the label of the caller. Replaces an
 * earlier label, and ends the caller's claim.
 */
export function labelTask({ db, clock }: InsightDeps): Route {
  return defineRoute({
    method: 'POST',
    url,
    id: 'labelTask',
    summary: 'Label a task, its findings and its claims',
    auth: 'jwt',
    scope: reviewScope,
    params: taskPath,
    body: labelBody,
    reply: labelList,
    errors: ['task_not_found', 'store_unavailable'],
    handle: async ({ params, body: { label, findings, claims }, caller }) => {
      const { project_id } = caller
      const { task_id } = await taskNamed({ db }, project_id, params.task_id)
      const key = { project_id, task_id, reviewer: requesterOf(caller) }
      const ids = findings.map(({ finding_id }) => finding_id)
      checkFindings(ids, await ownFindings(db, key, ids))
      const verdicts = findings.map(({ finding_id, verdict }) => {
        return { finding_id, is_right: verdict === 'right' }
      })
      await putLabel(db, key, { label, claims, findings: verdicts, at: new Date(clock.now_ms()) })
      return { task_id, labels: (await labelsOfTasks(db, project_id, [task_id])).map(toLabel) }
    },
  })
}

/** DELETE /api/v1/feedback/review/{task_id}/labels: removes the label of the caller. */
export function unlabelTask({ db }: InsightDeps): Route {
  return defineRoute({
    method: 'DELETE',
    url,
    id: 'unlabelTask',
    summary: 'Remove the label of the caller',
    status: 204,
    auth: 'jwt',
    scope: reviewScope,
    params: taskPath,
    reply: z.undefined(),
    errors: ['task_not_found', 'store_unavailable'],
    handle: async ({ params, caller }) => {
      const { project_id } = caller
      const { task_id } = await taskNamed({ db }, project_id, params.task_id)
      await deleteLabel(db, { project_id, task_id, reviewer: requesterOf(caller) })
      return undefined
    },
  })
}

/** Throws `invalid_request` for ids that occur twice or are not findings of the task. */
function checkFindings(ids: readonly string[], own: ReadonlySet<string>): void {
  const faults = ids.flatMap((id, at) => {
    const isKnown = own.has(id) && ids.indexOf(id) === at
    const detail = `got "${id}", expected a finding of this task, once`
    return isKnown ? [] : [{ pointer: `/findings/${at}/finding_id`, detail }]
  })
  const [first] = faults
  if (first === undefined) return
  throw problem('invalid_request', { detail: `${first.pointer}: ${first.detail}`, faults })
}

/** Shapes a stored label for a reply. */
export function toLabel({
  project_id: _p,
  task_id: _t,
  findings,
  ...label
}: StoredLabel): z.input<typeof labelSchema> {
  return {
    ...label,
    findings: findings.map(({ finding_id, is_right }) => {
      return { finding_id, verdict: is_right ? ('right' as const) : ('wrong' as const) }
    }),
  }
}
