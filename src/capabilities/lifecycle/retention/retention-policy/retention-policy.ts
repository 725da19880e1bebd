import { z } from 'zod'
import { problem } from '../../../../kernel/problem.ts'
import { flagParameter } from '../../../../model/list-query.ts'
import { managedByParameter } from '../../../../model/managed-by.ts'
import {
  type Caller,
  defineRoute,
  ifMatchHeader,
  type RequestHeaders,
  type Route,
  requesterOf,
} from '../../../../platform/http/index.ts'
import type { RetentionDeps } from '../contract.ts'
import { startDryRun, waitParameter } from '../runs/run.ts'
import { runSchema } from '../runs/run-schema.ts'
import { nextSlot } from '../schedule/slots.ts'
import { type RetentionBody, retentionBody } from './policy-schema.ts'
import { retentionAnswer, retentionReply } from './retention-reply.ts'
import { resetRetention, retentionTable, withdrawRetention, writeRetention } from './store.ts'

const query = z.strictObject({
  dry_run: flagParameter(
    '`true`: start a dry run, which counts the rows that a run under the policy would delete now, and answer 202. PUT then changes nothing.',
  ),
  wait: waitParameter,
})

/** Answer with `dry_run=true`. */
const also = {
  status: 202,
  description: 'With `dry_run=true`: the dry run. `Location` is its URL.',
  reply: runSchema,
} as const

/**
 * GET /api/v2/observability/retention-policy: the policy; changes may send its ETag in If-Match.
 */
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
      return retentionAnswer(deps, await retentionTable.read(deps.db, project_id))
    },
  })
}

/**
 * PUT /api/v2/observability/retention-policy: replaces the whole policy, which the next daily run
 * applies. With If-Match it answers 412 when the policy has changed since it was read. A policy
 * that a resource declares can be changed only for that resource, by the operator.
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
      return retentionAnswer(deps, await writeRetention(deps.db, change, written))
    },
  })
}

/** Returns the change of a request. */
function changeOf({ clock, hour }: RetentionDeps, caller: Caller, headers: RequestHeaders) {
  const now_ms = clock.now_ms()
  return {
    project_id: caller.project_id,
    at: new Date(now_ms),
    next_run_at: new Date(nextSlot(now_ms, hour)),
    by: requesterOf(caller),
    headers,
  }
}

/** Refuses an operator's request that names no resource, and others that name one. */
function refuseDeclaration({ kind }: Caller, body: RetentionBody): void {
  const set = (['managed_by', 'legal_holds'] as const).filter((name) => body[name] !== undefined)
  const names = body.take_over ? [...set, 'take_over'] : set
  if (kind === 'operator' && body.managed_by === undefined) {
    refuse(['managed_by'], 'expected the resource that declares the policy')
  }
  if (kind !== 'operator' && names.length > 0) {
    refuse(names, 'only the operator of a cluster may set it')
  }
}

function refuse(names: readonly string[], detail: string): never {
  throw problem('invalid_request', {
    detail: `${names.join(', ')}: ${detail}`,
    faults: names.map((name) => ({ pointer: `/${name}`, detail })),
  })
}

/**
 * DELETE /api/v2/observability/retention-policy: returns to the default, which keeps all data for
 * ever. A declared policy can be deleted only for the resource that declares it; with `retain` its
 * policy and holds are kept and only the declaration is removed. Answers the policy that then
 * applies. Idempotent.
 */
export function deleteRetentionPolicy(deps: RetentionDeps): Route {
  return defineRoute({
    method: 'DELETE',
    url: '/api/v2/observability/retention-policy',
    id: 'deleteRetentionPolicy',
    summary: 'Return to keeping a project’s data for ever',
    auth: 'jwt_or_key',
    scope: { level: 'project', role: 'admin', key: 'retention:write', operator: true },
    headers: [ifMatchHeader],
    query: z.strictObject({
      managed_by: managedByParameter
        .optional()
        .describe(
          'Resource whose declaration is removed, as `Kind/namespace/name`; only for the operator of a cluster.',
        ),
      retain: flagParameter(
        '`true`: keep policy and holds, and remove only their declaration. Requires `managed_by`.',
      ),
    }),
    reply: retentionReply,
    errors: ['managed_by_kubernetes', 'precondition_failed', 'store_unavailable'],
    handle: async ({ query: { managed_by, retain = false }, caller, headers }) => {
      const is_operator = caller.kind === 'operator'
      if (is_operator !== (managed_by !== undefined) || (retain && !is_operator)) {
        const detail = is_operator
          ? 'managed_by: missing, expected the resource as Kind/namespace/name'
          : 'managed_by, retain: only the operator of a cluster may set it'
        throw problem('invalid_request', { detail })
      }
      const change = changeOf(deps, caller, headers)
      const remaining = await (managed_by === undefined
        ? resetRetention(deps.db, change)
        : withdrawRetention(deps.db, change, { owner: managed_by, retain }))
      const { project_id } = change
      return retentionAnswer(deps, remaining ?? (await retentionTable.read(deps.db, project_id)))
    },
  })
}
