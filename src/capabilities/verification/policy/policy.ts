import { z } from 'zod'
import { durationMs, durationPattern } from '../../../kernel/duration.ts'
import { expected } from '../../../model/list-query.ts'
import { dollarsSchema, record } from '../../../model/named-schemas.ts'
import { refuseUnstorable } from '../../../model/storable.ts'
import {
  Answer,
  defineRoute,
  etagOf,
  ifMatchHeader,
  type Route,
  writeIfMatch,
} from '../../../platform/http/index.ts'
import { requesterOf } from '../../jobs/index.ts'
import { readScope, type VerificationRoutesDeps } from '../api/contract.ts'
import { chooseVerifiers, verifierList } from '../api/verify-request.ts'
import { findPolicy, putPolicy, replacePolicy, type StoredPolicy } from './store.ts'

const url = '/api/v1/verification/policy'
const globs_max = 50
const glob_chars_max = 256
const minInterval_ms_max = 7 * 24 * 3_600_000

const percent = z
  .number({ error: expected('a number from 0 to 100') })
  .min(0, { error: expected('a number from 0 to 100') })
  .max(100, { error: expected('a number from 0 to 100') })

/** Fields of a policy that a request sets. Fields left out have their defaults. */
const policyFields = {
  enabled: z.boolean().default(false).describe('Whether answers are verified automatically.'),
  sample_percent: percent
    .default(100)
    .describe('Share of the tasks that is verified, 0–100, chosen by the id of the task.'),
  task_names: z
    .array(z.string().min(1).max(glob_chars_max))
    .min(1, { error: expected('at least one name; null means all tasks') })
    .max(globs_max, { error: `expected at most ${globs_max} names` })
    .nullable()
    .default(null)
    .describe('Names of tasks to verify; `*` and `?` are wildcards. Null: all tasks.'),
  verifiers: verifierList
    .default(null)
    .describe('Verifiers to run. Null: all that are available in this installation.'),
  budget_usd_per_day: z
    .string()
    .regex(/^\d{1,6}(\.\d{1,9})?$/, { error: expected('US dollars as decimal text') })
    .nullable()
    .default(null)
    .describe(
      'Maximum cost of the runs of the policy on a day (UTC). Null: only the budget of the project.',
    ),
  min_interval: z
    .string()
    .regex(durationPattern, { error: expected('a duration such as 10m') })
    .refine((text) => durationMs(text) <= minInterval_ms_max, {
      error: expected('at most 7 days'),
    })
    .nullable()
    .default(null)
    .describe('Least time between two verifications of a task. Null: no limit.'),
}

export const policyBody = record('VerificationPolicyRequest', policyFields).superRefine(
  refuseUnstorable,
)

/** Rules of a policy. */
export type PolicyRules = z.output<typeof policyBody>

/** The rules of a project that has set none. */
export const defaultRules: PolicyRules = policyBody.parse({})

/** Reply with a policy. */
export const policySchema = record('VerificationPolicy', {
  project_id: z.uuid(),
  enabled: z.boolean(),
  sample_percent: percent,
  task_names: z.array(z.string()).nullable(),
  verifiers: z
    .array(
      z.union([
        z.string(),
        record('PolicyVerifier', {
          name: z.string(),
          options: z.record(z.string(), z.unknown()),
        }),
      ]),
    )
    .nullable(),
  budget_usd_per_day: dollarsSchema.nullable(),
  min_interval: z.string().nullable(),
  version: z.int().describe('Version, incremented with each change; 0 for the default policy.'),
  updated_at: z.iso.datetime().nullable(),
  updated_by: z.string().nullable(),
})

/** GET /api/v1/verification/policy: the policy; changes may send its ETag in If-Match. */
export function getVerificationPolicy({ db }: VerificationRoutesDeps): Route {
  return defineRoute({
    method: 'GET',
    url,
    id: 'getVerificationPolicy',
    summary: 'Policy of automatic verification',
    etag: true,
    auth: 'jwt',
    scope: readScope,
    reply: policySchema,
    errors: ['store_unavailable'],
    handle: async ({ caller: { project_id } }) =>
      toAnswer(project_id, await findPolicy(db, project_id)),
  })
}

/**
 * PUT /api/v1/verification/policy: replaces the whole policy. It applies to tasks that become quiet
 * afterwards. With If-Match it answers 412 when the policy has changed since it was read.
 */
export function putVerificationPolicy(deps: VerificationRoutesDeps): Route {
  const { db, clock } = deps
  return defineRoute({
    method: 'PUT',
    url,
    id: 'putVerificationPolicy',
    summary: 'Set the policy of automatic verification',
    etag: true,
    auth: 'jwt',
    scope: { level: 'project', role: 'admin', key: null },
    headers: [ifMatchHeader],
    body: policyBody,
    reply: policySchema,
    errors: ['precondition_failed', 'store_unavailable'],
    handle: async ({ body: rules, caller, headers }) => {
      chooseVerifiers(deps.verifiers, rules.verifiers)
      const { project_id } = caller
      const updated_at = new Date(clock.now_ms())
      const change = { project_id, rules, updated_at, updated_by: requesterOf(caller) }
      const stored = await writeIfMatch(headers, {
        put: () => putPolicy(db, change),
        replace: (version) => replacePolicy(db, change, version),
        find: () => findPolicy(db, project_id),
      })
      return toAnswer(project_id, stored)
    },
  })
}

function toAnswer(project_id: string, stored: StoredPolicy | undefined) {
  const reply = toPolicyReply(project_id, stored)
  return new Answer(reply, { headers: { etag: etagOf(reply.version) } })
}

/** Returns a policy as a reply; the default one when none is stored. */
export function toPolicyReply(
  project_id: string,
  stored: StoredPolicy | undefined,
): z.input<typeof policySchema> {
  if (stored === undefined) {
    return { project_id, ...defaultRules, version: 0, updated_at: null, updated_by: null }
  }
  const { version, updated_at, updated_by } = stored
  return { project_id, ...readRules(stored), version, updated_at, updated_by }
}

/** Returns the rules of a stored policy. */
export function readRules({ policy }: Pick<StoredPolicy, 'policy'>): PolicyRules {
  return policyBody.parse(policy)
}
