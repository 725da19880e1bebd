import type { Clock } from '../../../kernel/time.ts'
import {
  Answer,
  defineRoute,
  etagOf,
  ifMatchHeader,
  type Route,
  writeIfMatch,
} from '../../../platform/http/index.ts'
import type { CaptureTables, Kysely } from '../../../platform/relational/index.ts'
import type { CapturePolicies } from './capture-policies.ts'
import { defaultRules } from './compile-policy.ts'
import type { Mask } from './contract.ts'
import { policyBody, policySchema } from './policy-schema.ts'
import { findPolicy, putPolicy, replacePolicy, type StoredPolicy } from './store.ts'

/** What the routes need; `policies` are those of an edge in the same process, if there is one. */
export type CaptureDeps = {
  db: Kysely<CaptureTables>
  clock: Clock
  policies?: Pick<CapturePolicies, 'forget'> | undefined
}

/** GET /api/v2/observability/capture-policy; its ETag is what a change names in If-Match. */
export function getCapturePolicy({ db }: CaptureDeps): Route {
  return defineRoute({
    method: 'GET',
    url: '/api/v2/observability/capture-policy',
    id: 'getCapturePolicy',
    summary: 'What a project lets be recorded',
    etag: true,
    auth: 'jwt',
    scope: { level: 'project', role: 'viewer', key: null },
    reply: policySchema,
    errors: [],
    handle: async ({ caller: { project_id } }) => {
      const stored = await findPolicy(db, project_id)
      return answerOf(stored ?? { ...noPolicy, project_id })
    },
  })
}

/**
 * PUT /api/v2/observability/capture-policy: replaces the whole policy. With If-Match it does so only
 * if the policy is still the one that was read (412 when not). Edges follow within half a minute.
 */
export function putCapturePolicy({ db, clock, policies }: CaptureDeps): Route {
  return defineRoute({
    method: 'PUT',
    url: '/api/v2/observability/capture-policy',
    id: 'putCapturePolicy',
    summary: 'Set what a project lets be recorded',
    etag: true,
    auth: 'jwt',
    scope: { level: 'project', role: 'admin', key: null },
    headers: [ifMatchHeader],
    body: policyBody,
    reply: policySchema,
    errors: ['precondition_failed'],
    handle: async ({ body, caller, headers }) => {
      const { project_id, id: updated_by } = caller
      const updated_at = new Date(clock.now_ms())
      const change = { ...body, project_id, updated_at, updated_by }
      const stored = await writeIfMatch(headers, {
        put: () => putPolicy(db, change),
        replace: (version) => replacePolicy(db, change, version),
        find: () => findPolicy(db, project_id),
      })
      policies?.forget(project_id)
      return answerOf(stored)
    },
  })
}

const noPolicy = { ...defaultRules, version: 0, updated_at: null, updated_by: null }

type Shown = Omit<StoredPolicy, 'masks' | 'updated_at'> & {
  masks: readonly Mask[]
  updated_at: string | null
}

function answerOf(policy: Shown) {
  const { masks, project_id, content, sample_rate, version, updated_at, updated_by } = policy
  const shown = masks.map(({ name, pattern, keys, replacement }) => ({
    name,
    ...(pattern !== null && { pattern }),
    ...(keys !== null && { keys: [...keys] }),
    replacement,
  }))
  return new Answer(
    { project_id, content, sample_rate, masks: shown, version, updated_at, updated_by },
    { headers: { etag: etagOf(version) } },
  )
}
