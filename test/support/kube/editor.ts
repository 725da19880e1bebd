import { kinds } from '../../../src/operator/index.ts'
import type { ApiServer } from './api-server.ts'
import type { Resources } from './resources.ts'

/** A user who may edit the resources and Secrets of some namespaces, as the role `edit` does. */
export type Editor = {
  /** Gives the user these rights in one more namespace. */
  letEdit(namespace: string): Promise<void>
  /** Applies a resource. Throws if the API server refuses it. */
  apply(of: Resources, resource: EditedResource): Promise<void>
  /** Merges a change into a resource. Throws if the API server refuses it. */
  edit(of: Resources, name: string, change: object): Promise<void>
}

type EditedResource = { name: string; kind: string; spec: object; metadata?: object }

/** Returns the editor of this name, which must be a user of the server. */
export function editorOf(server: ApiServer, user: string): Editor {
  return {
    letEdit: async (namespace) => {
      const group = 'rbac.authorization.k8s.io'
      const api = `/apis/${group}/v1/namespaces/${namespace}`
      const verbs = ['get', 'list', 'create', 'update', 'patch', 'delete']
      const namespaced = kinds.flatMap(({ plural, scope }) => (scope === 'Cluster' ? [] : [plural]))
      const rules = [
        { apiGroups: ['looptrace.dev'], resources: namespaced },
        { apiGroups: [''], resources: ['secrets', 'configmaps'] },
      ].map((rule) => ({ ...rule, verbs }))
      const role = { apiVersion: `${group}/v1`, kind: 'Role', metadata: { name: 'edit' }, rules }
      await server.tell('POST', `${api}/roles`, { body: role })
      const body = {
        ...{ apiVersion: `${group}/v1`, kind: 'RoleBinding', metadata: { name: 'edit' } },
        roleRef: { apiGroup: group, kind: 'Role', name: 'edit' },
        subjects: [{ apiGroup: group, kind: 'User', name: user }],
      }
      await server.tell('POST', `${api}/rolebindings`, { body })
    },
    apply: async (of, { name, kind, spec, metadata }) => {
      const apiVersion = 'looptrace.dev/v1alpha1'
      const path = `${of.path(name)}?fieldManager=${user}&force=true`
      const body = { apiVersion, kind, metadata: { ...metadata, name }, spec }
      const { status, text } = await server.ask('PATCH', path, { user, body })
      if (status >= 300) throw new Error(`${name}: ${status} ${text}`)
    },
    edit: async (of, name, change) => {
      const type = 'application/merge-patch+json'
      const about = { user, body: change, type }
      const { status, text } = await server.ask('PATCH', of.path(name), about)
      if (status !== 200) throw new Error(`${name}: ${status} ${text}`)
    },
  }
}
