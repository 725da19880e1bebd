import type { ApiServer } from './api-server.ts'
import { operatorAccount } from './api-server.ts'

export type Rule = {
  apiGroups: readonly string[]
  resources: readonly string[]
  verbs: readonly string[]
}

/** Permissions of an operator of these kinds, as in `docs/internals/operator.md`. */
export function operatorRules(plurals: readonly string[]): Rule[] {
  const group = ['looptrace.dev']
  return [
    { apiGroups: group, resources: plurals, verbs: ['get', 'list', 'watch', 'patch'] },
    {
      apiGroups: group,
      resources: ['projectgrants', 'incidentrules'],
      verbs: ['create', 'delete'],
    },
    { apiGroups: group, resources: plurals.map((of) => `${of}/status`), verbs: ['patch'] },
    { apiGroups: group, resources: plurals.map((of) => `${of}/finalizers`), verbs: ['update'] },
    {
      ...{ apiGroups: [''], resources: ['secrets'] },
      verbs: ['get', 'list', 'watch', 'create', 'update', 'patch', 'delete'],
    },
    { apiGroups: [''], resources: ['namespaces'], verbs: ['get', 'list', 'watch'] },
    { apiGroups: ['events.k8s.io'], resources: ['events'], verbs: ['create', 'patch'] },
    {
      ...{ apiGroups: ['coordination.k8s.io'], resources: ['leases'] },
      verbs: ['get', 'list', 'create', 'update', 'patch', 'delete'],
    },
    { apiGroups: [''], resources: ['namespaces'], verbs: ['get'] },
  ]
}

/** Removes one verb from the rules: `without(rules, 'patch', 'notes/status')`. */
export function without(rules: readonly Rule[], verb: string, resource: string): Rule[] {
  return rules.flatMap((rule) => {
    if (!rule.resources.includes(resource)) return [rule]
    const others = rule.resources.filter((one) => one !== resource)
    const verbs = rule.verbs.filter((one) => one !== verb)
    return [
      ...(others.length > 0 ? [{ ...rule, resources: others }] : []),
      { ...rule, resources: [resource], verbs },
    ]
  })
}

const apis = '/apis/rbac.authorization.k8s.io/v1'

/** Grants exactly these rules in all namespaces; replaces earlier ones. */
export async function grant(
  server: ApiServer,
  rules: readonly Rule[],
  user = operatorAccount,
): Promise<void> {
  const name = user.replaceAll(':', '-')
  const apiVersion = 'rbac.authorization.k8s.io/v1'
  const metadata = { name }
  const apply = (plural: string, body: object) =>
    server.tell('PATCH', `${apis}/${plural}/${name}?fieldManager=test&force=true`, { body })
  await apply('clusterroles', { apiVersion, kind: 'ClusterRole', metadata, rules })
  await apply('clusterrolebindings', {
    ...{ apiVersion, kind: 'ClusterRoleBinding', metadata },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name },
    subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: user }],
  })
}
