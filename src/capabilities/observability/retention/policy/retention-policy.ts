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
import { asStoreProblem } from '../../../../platform/relational/index.ts'
import { requesterOf } from '../../jobs/index.ts'
import type { RetentionDeps } from '../retention-deps.ts'
import { dryRunOf } from '../runs/dry-run.ts'
import { type RetentionBody, retentionBody } from './policy-schema.ts'
import { retentionAnswer, retentionReply, shownPolicy } from './retention-reply.ts'
import { findRetention, type StoredRetention, writeRetention } from './store.ts'

const query = z.strictObject({
  dry_run: flagParameter(
    '`true`: also answer what a run under the policy would delete now. PUT then changes nothing.',
  ),
})

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
    errors: ['store_unavailable'],
    handle: async ({ query: { dry_run }, caller: { project_id } }) => {
      const stored = await findRetention(deps.db, project_id).catch(rethrow)
      const policy = shownPolicy(project_id, stored)
      const found = dry_run ? await dryRunOf(deps, { project_id, rules: policy }) : undefined
      return retentionAnswer(deps, policy, found).catch(rethrow)
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
    errors: [
      'archive_not_configured',
      'managed_by_kubernetes',
      'precondition_failed',
      'too_many_holds',
      'store_unavailable',
    ],
    handle: async ({ body, query: { dry_run }, caller, headers }) => {
      const { project_id } = caller
      refuseDeclaration(caller, body)
      const { days, environments, archive_before_delete, archive } = body
      const policy = { days, environments, archive_before_delete, archive }
      if (dry_run) {
        const stored = await findRetention(deps.db, project_id).catch(rethrow)
        const found = await dryRunOf(deps, { project_id, rules: policy })
        const shown = { ...shownPolicy(project_id, stored), ...policy }
        return retentionAnswer(deps, shown, found).catch(rethrow)
      }
      if (archive?.enabled && !deps.archives_configured) {
        throw problem('archive_not_configured', {
          detail: 'archive: set LOOPTRACE_BLOBS_URL for the roles api and worker.',
        })
      }
      const { managed_by: owner = null, take_over, legal_holds } = body
      const change = changeOf(deps, caller, headers)
      const written = { ...policy, owner, take_over, legal_holds }
      const stored =
        (await writeRetention(deps.db, change, written).catch(rethrow)) ??
        (await throwChanged(deps, change.project_id, headers))
      return retentionAnswer(deps, stored).catch(rethrow)
    },
  })
}

/** What a request is to change, and as whom. */
export function changeOf({ clock }: RetentionDeps, caller: Caller, headers: RequestHeaders) {
  return {
    project_id: caller.project_id,
    at: new Date(clock.now_ms()),
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
  const now: StoredRetention | undefined = await findRetention(db, project_id).catch(rethrow)
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

/** Says in the words of the API that the relational store is out of reach. */
export function rethrow(error: unknown): never {
  throw asStoreProblem(error)
}
