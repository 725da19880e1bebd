import { z } from 'zod'
import { flagParameter } from '../../../../model/list-query.ts'
import {
  Answer,
  changedSince,
  defineRoute,
  etagOf,
  ifMatchHeader,
  type RequestHeaders,
  type Route,
  versionToReplace,
} from '../../../../platform/http/index.ts'
import { asStoreProblem } from '../../../../platform/relational/index.ts'
import { requesterOf } from '../../jobs/index.ts'
import type { RetentionDeps } from '../retention-deps.ts'
import { dryRunOf, dryRunSchema } from '../runs/dry-run.ts'
import { retentionBody, retentionFields } from './policy-schema.ts'
import { defaultRetention, type RetentionRules } from './rules.ts'
import { findRetention, putRetention, type RetentionChange, replaceRetention } from './store.ts'

const query = z.strictObject({
  dry_run: flagParameter(
    '`true`: also answer what a run under the policy would delete now. PUT then changes nothing.',
  ),
})

const reply = z.strictObject({ ...retentionFields, dry_run: dryRunSchema.optional() })

/** GET /api/v2/observability/retention-policy; its ETag is what a change names in If-Match. */
export function getRetentionPolicy(deps: RetentionDeps): Route {
  return defineRoute({
    method: 'GET',
    url: '/api/v2/observability/retention-policy',
    id: 'getRetentionPolicy',
    summary: 'How long a project’s data is kept',
    auth: 'jwt_or_key',
    scope: { level: 'project', role: 'viewer', key: 'retention:write' },
    query,
    reply,
    errors: ['store_unavailable'],
    handle: async ({ query: { dry_run }, caller: { project_id } }) => {
      const stored = await findRetention(deps.db, project_id).catch(rethrow)
      const policy = stored ?? { ...noPolicy, project_id }
      const found = dry_run ? await dryRunOf(deps, { project_id, rules: policy }) : undefined
      return answerOf(policy, found)
    },
  })
}

/**
 * PUT /api/v2/observability/retention-policy: replaces the whole policy. With If-Match it does so
 * only if the policy is still the one that was read (412 when not). The next daily run goes by it.
 */
export function putRetentionPolicy(deps: RetentionDeps): Route {
  return defineRoute({
    method: 'PUT',
    url: '/api/v2/observability/retention-policy',
    id: 'putRetentionPolicy',
    summary: 'Set how long a project’s data is kept',
    auth: 'jwt_or_key',
    scope: { level: 'project', role: 'admin', key: 'retention:write' },
    headers: [ifMatchHeader],
    query,
    body: retentionBody,
    reply,
    errors: ['precondition_failed', 'store_unavailable'],
    handle: async ({ body, query: { dry_run }, caller, headers }) => {
      const { project_id } = caller
      if (dry_run) {
        const stored = await findRetention(deps.db, project_id).catch(rethrow)
        const found = await dryRunOf(deps, { project_id, rules: body })
        return answerOf({ ...noPolicy, ...stored, ...body, project_id }, found)
      }
      const updated_at = new Date(deps.clock.now_ms())
      const change = { ...body, project_id, updated_at, updated_by: requesterOf(caller) }
      return answerOf(await written(deps, change, headers).catch(rethrow))
    },
  })
}

const noPolicy = { ...defaultRetention, version: 0, updated_at: null, updated_by: null }

function rethrow(error: unknown): never {
  throw asStoreProblem(error)
}

async function written(
  { db }: RetentionDeps,
  change: RetentionChange,
  headers: RequestHeaders,
): Promise<Shown> {
  const version = versionToReplace(headers)
  if (version === undefined) return putRetention(db, change)
  const stored = await replaceRetention(db, change, version)
  if (stored !== undefined) return stored
  const now = await findRetention(db, change.project_id)
  throw changedSince(headers, now?.version ?? 0)
}

type Shown = RetentionRules & {
  project_id: string
  version: number
  updated_at: string | null
  updated_by: string | null
}

function answerOf(policy: Shown, dry_run?: z.input<typeof dryRunSchema>) {
  const { project_id, days, environments, archive_before_delete } = policy
  const { version, updated_at, updated_by } = policy
  return new Answer(
    {
      ...{ project_id, days, environments: [...environments], archive_before_delete },
      ...{ version, updated_at, updated_by },
      ...(dry_run !== undefined && { dry_run }),
    },
    { headers: { etag: etagOf(version) } },
  )
}
