import { isDeepStrictEqual } from 'node:util'
import { z } from 'zod'
import {
  type PolicyRules,
  policyBody,
  policyFields,
} from '../../../capabilities/certification/policy/policy.ts'
import { type ManagedBy, managedByField } from '../../../model/managed-by.ts'
import { NotReady, type ReconcileDeps, type ResourceMeta } from '../../contract.ts'
import { isOwnedBy, ownerOf, ownerQuery } from '../../installation.ts'
import { isRefusal, parseAnswer } from '../../service/service-client.ts'
import type { ReleasePolicySpec } from './spec.ts'
import { toRules } from './to-rules.ts'

const root = '/api/v1/reliability/phase10/release-policies'

const storedShape = z.looseObject({
  policy_id: z.string(),
  version: z.int(),
  managed_by: managedByField.nullable(),
  policy: z.looseObject({ digest: z.string() }),
})
const page = z.looseObject({ policies: z.array(storedShape) })

/** A policy in the service. */
export type StoredPolicy = z.output<typeof storedShape>

type Deps = Pick<ReconcileDeps, 'service' | 'project_id' | 'installation'>
type Meta = Pick<ResourceMeta, 'kind' | 'namespace' | 'name' | 'uid'>

/** The policy that a resource declares, as the service is asked to store it. */
export type DesiredPolicy = { policy_id: string; rules: PolicyRules; owner: ManagedBy }

/** Returns the policy that a resource declares. */
export function desiredPolicy(
  { meta, spec }: { meta: Meta; spec: ReleasePolicySpec },
  { installation }: Pick<Deps, 'installation'>,
): DesiredPolicy {
  // As JSON, because undefined fields are absent in the service.
  const rules = JSON.parse(JSON.stringify(policyBody.parse(toRules(spec))))
  return { policy_id: spec.policyId ?? meta.name, rules, owner: ownerOf(meta, installation) }
}

/** Reads a policy of the project; undefined when it does not exist. */
export async function readPolicy(
  { service, project_id }: Deps,
  policy_id: string,
): Promise<StoredPolicy | undefined> {
  try {
    const path = `${root}/${policy_id}`
    const { body } = await service.request({ method: 'GET', path, project_id })
    return parseAnswer(storedShape, body, 'release policy')
  } catch (error) {
    if (isRefusal(error, 'release_policy_not_found')) return undefined
    throw error
  }
}

/** Returns the fields in which a stored policy differs from the declared one. */
export function policyDifferences(
  { policy, managed_by }: StoredPolicy,
  { rules, owner }: DesiredPolicy,
): string[] {
  const wanted: Readonly<Record<string, unknown>> = rules
  const fields = Object.keys(policyFields).filter(
    (field) => !isDeepStrictEqual(policy[field], wanted[field]),
  )
  return isDeepStrictEqual(managed_by, owner) ? fields : [...fields, 'managed_by']
}

/**
 * Writes the policy over the version that was read. Throws `NotReady` (`NameTaken`) when another resource
 * declares a policy of this id, and (`LimitReached`) when the project has the maximum of policies.
 */
export async function writePolicy(
  { service, project_id }: Deps,
  { policy_id, rules, owner }: DesiredPolicy,
  before: StoredPolicy | undefined,
): Promise<void> {
  const body = { ...rules, managed_by: owner }
  const if_match = `"${before?.version ?? 0}"`
  const path = `${root}/${policy_id}`
  try {
    await service.request({ method: 'PUT', path, project_id, body, if_match })
  } catch (error) {
    for (const [code, reason] of Object.entries(reasons)) {
      if (isRefusal(error, code)) throw new NotReady(reason, error.message)
    }
    throw error
  }
}

/** Reasons of Ready for codes of refusals. */
const reasons = { managed_by_kubernetes: 'NameTaken', limit_reached: 'LimitReached' }

/**
 * Deletes the policies that a resource declares, or with `retain` only removes their owner. A missing
 * policy or project is ignored.
 */
export async function removePolicies(
  meta: Meta,
  { service, project_id, installation }: Deps,
  { retain }: { retain: boolean },
): Promise<void> {
  if (project_id === '') return
  const owner = ownerOf(meta, installation)
  const declarer = `managed_by=${encodeURIComponent(ownerQuery(owner))}`
  try {
    const { body } = await service.request({
      method: 'GET',
      path: `${root}?${declarer}`,
      project_id,
    })
    for (const { policy_id, managed_by } of parseAnswer(page, body, 'list of policies').policies) {
      if (managed_by === null || !isOwnedBy(managed_by, owner)) continue
      const path = `${root}/${policy_id}?${declarer}${retain ? '&retain=true' : ''}`
      await service.request({ method: 'DELETE', path, project_id })
    }
  } catch (error) {
    const isGone = ['release_policy_not_found', 'project_not_found'].some((code) =>
      isRefusal(error, code),
    )
    if (!isGone) throw error
  }
}
