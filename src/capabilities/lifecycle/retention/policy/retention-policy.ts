import { z } from 'zod'
import { problem } from '../../../../kernel/problem.ts'
import { flagParameter } from '../../../../model/list-query.ts'
import {
  type Caller,
  changedSince,
  defineRoute,
  ifMatchHeader,
  type RequestHeaders,
  type Route,
  versionToReplace,
} from '../../../../platform/http/index.ts'
import { requesterOf } from '../../../jobs/index.ts'
import type { RetentionDeps } from '../retention-deps.ts'
import { runSchema } from '../runs/run-schema.ts'
import { startDryRun, waitParameter } from '../runs/start-run.ts'
import { nextSlot } from '../schedule/daily-slots.ts'
import { type RetentionBody, retentionBody } from './policy-schema.ts'
import { retentionAnswer, retentionReply, shownPolicy } from './retention-reply.ts'
import { findRetention, type StoredRetention, writeRetention } from './store.ts'

const query = z.strictObject({
  dry_run: flagParameter(
    '`true`: 202 with a dry run, which counts what a run under the policy would delete now. PUT then changes nothing.',
  ),
  wait: waitParameter,
})

/** With `dry_run=true` the answer is the record of a dry run. */
const also = {
  status: 202,
  description: 'With `dry_run=true`: the dry run, which `Location` names.',
  reply: runSchema,
} as const

/** GET /api/v2/observability/retention-policy; its ETag is what a change names in If-Match. */
export function getRetentionPolicy(deps: RetentionDeps): Route {
  return defineRoute({
    method: 'GET',
    url: '/api/v2/observability/retention-policy',
    id: 'getRetentionPolicy',
    summary: 'How long a project’s data is kept',
    etag: true,
    auth: 'jwt_or_key',
    scope: { level: 'project', role: 'viewer', key: 'retention:write', operator: true },
    query,
    reply: retentionReply,
    also,
    errors: ['job_running', 'store_unavailable'],
    handle: async ({ query: { dry_run, wait }, caller, signal }) => {
      const { project_id } = caller
      if (dry_run) return startDryRun(deps, { caller, wait, signal })
      const stored = await findRetention(deps.db, project_id)
      return retentionAnswer(deps, shownPolicy(project_id, stored))
    },
  })
}

/**
 * PUT /api/v2/observability/retention-policy: replaces the whole policy. With If-Match it does so
 * only if the policy is still the one that was read (412 when not). The next daily run goes by it.
 * One that a resource declares is changed by that resource alone, through its operator.
 */
export function putRetentionPolicy(deps: RetentionDeps): Route {
  return defineRoute({
    method: 'PUT',
    url: '/api/v2/observability/retention-policy',
    id: 'putRetentionPolicy',
    summary: 'Set how long a project’s data is kept',
    etag: true,
    auth: 'jwt_or_key',
    scope: { level: 'project', role: 'admin', key: 'retention:write', operator: true },
    headers: [ifMatchHeader],
    query,
    body: retentionBody,
    reply: retentionReply,
    also,
    errors: [
      'archive_not_configured',
      'job_running',
      'managed_by_kubernetes',
      'precondition_failed',
      'too_many_holds',
      'store_unavailable',
    ],
    handle: async ({ body, query: { dry_run, wait }, caller, headers, signal }) => {
      refuseDeclaration(caller, body)
      const { days, environments, archive_before_delete, archive } = body
      const policy = { days, environments, archive_before_delete, archive }
      if (dry_run) return startDryRun(deps, { caller, wait, signal }, policy)
      if (archive?.enabled && !deps.archives_configured) {
        throw problem('archive_not_configured', {
          detail: 'archive: set LOOPTRACE_BLOBS_URL for the roles api and worker.',
        })
      }
      const { managed_by: owner = null, take_over, legal_holds } = body
      const change = changeOf(deps, caller, headers)
      const written = { ...policy, owner, take_over, legal_holds }
      const stored =
        (await writeRetention(deps.db, change, written)) ??
        (await throwChanged(deps, change.project_id, headers))
      return retentionAnswer(deps, stored)
    },
  })
}

/** What a request is to change, and as whom. */
export function changeOf({ clock, hour }: RetentionDeps, caller: Caller, headers: RequestHeaders) {
  const now_ms = clock.now_ms()
  return {
    project_id: caller.project_id,
    at: new Date(now_ms),
    next_run_at: new Date(nextSlot(now_ms, hour)),
    by: requesterOf(caller),
    version: versionToReplace(headers),
  }
}

/** Throws `precondition_failed` with the version that stands there. */
export async function throwChanged(
  { db }: RetentionDeps,
  project_id: string,
  headers: RequestHeaders,
): Promise<never> {
  const now: StoredRetention | undefined = await findRetention(db, project_id)
  throw changedSince(headers, now?.version ?? 0)
}

/** Resources are spoken for by the operator, and it speaks for nothing else. */
function refuseDeclaration({ kind }: Caller, body: RetentionBody): void {
  const said = (['managed_by', 'legal_holds'] as const).filter((name) => body[name] !== undefined)
  const names = body.take_over ? [...said, 'take_over'] : said
  if (kind === 'operator' && body.managed_by === undefined) {
    refuse(['managed_by'], 'expected the resource that declares the policy')
  }
  if (kind !== 'operator' && names.length > 0) {
    refuse(names, 'only the operator of a cluster may say it')
  }
}

function refuse(names: readonly string[], detail: string): never {
  throw problem('invalid_request', {
    detail: `${names.join(', ')}: ${detail}`,
    faults: names.map((name) => ({ pointer: `/${name}`, detail })),
  })
}
