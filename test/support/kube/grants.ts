import { keyScopes, projectRoles } from '../../../src/kernel/scopes.ts'
import { kinds } from '../../../src/operator/index.ts'
import { projectGrantKind } from '../../../src/operator/kinds/project-grant/index.ts'
import type { ApiServer } from './api-server.ts'
import { type Resources, resourcesOf } from './resources.ts'

/** The ProjectGrants of the cluster. */
export function grantsOf(server: ApiServer): Resources {
  return resourcesOf(server, projectGrantKind, '')
}

/** The spec of a grant of a project to a namespace, of every kind and scope. */
export function grantSpec(namespace: string, project: string | object, more: object = {}): object {
  return {
    project: typeof project === 'string' ? { id: project } : project,
    namespaces: { names: [namespace] },
    kinds: kinds.flatMap(({ kind, project: isBound }) => (isBound ? [kind] : [])),
    scopes: keyScopes,
    roles: projectRoles,
    maxKeys: 1_000,
    ...more,
  }
}

/** Grants a project, by id or as `{organization, name}`, to a namespace; returns the grant's name. */
export async function grantProject(
  server: ApiServer,
  namespace: string,
  project: string | object,
  more: object = {},
): Promise<string> {
  const name = `${namespace}-${crypto.randomUUID().slice(0, 8)}`
  const { status, text } = await grantsOf(server).apply(name, grantSpec(namespace, project, more))
  if (status >= 300) throw new Error(`granting ${JSON.stringify(project)}: ${status} ${text}`)
  return name
}
