import {
  Answer,
  defineRoute,
  etagOf,
  ifMatchHeader,
  type Route,
  writeIfMatch,
} from '../../../platform/http/index.ts'
import { requesterOf } from '../../jobs/index.ts'
import { policyBody, policySchema, type StoredPolicy, toPolicyReply } from '../policy/rules.ts'
import { findPolicy, putPolicy, replacePolicy } from '../policy/store.ts'
import { chooseVerifiers } from '../verifiers/choose-verifiers.ts'
import { readScope, type VerificationRoutesDeps } from './contract.ts'

const url = '/api/v1/verification/policy'

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
