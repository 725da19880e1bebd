import { isDeepStrictEqual } from 'node:util'
import { type Grant, type Labels, type NamespaceSelection, selects } from './grant.ts'

/** The grants in force and the labels of namespaces, as last read. */
export type GrantBook = {
  /** Sets or removes the grant of a ProjectGrant. */
  put(name: string, grant: Grant | undefined): void
  grants(): readonly Grant[]
  /** Whether any grant selects namespaces by labels. */
  hasSelectors(): boolean
  setLabels(namespace: string, labels: Labels | undefined): void
  /** Returns undefined for a namespace that was not read yet. */
  labelsOf(namespace: string): Labels | undefined
  /** Returns the number of selected namespaces. */
  count(selection: NamespaceSelection): number
}

/** Called when decisions for the resources of some namespaces may have changed. */
export type OnGrantChange = (isAffected: (namespace: string) => boolean) => void

/** Creates an empty book. */
export function createGrantBook(onChange: OnGrantChange): GrantBook {
  const byName = new Map<string, Grant>()
  const labelsByNamespace = new Map<string, Labels>()
  const labelsOf = (namespace: string) => labelsByNamespace.get(namespace)
  const isSelected = ({ namespaces }: Grant, namespace: string) =>
    selects(namespaces, namespace, labelsOf(namespace)) !== false
  const hasSelectors = () =>
    byName.values().some(({ namespaces }) => namespaces.selector !== undefined)
  return {
    labelsOf,
    hasSelectors,
    grants: () => [...byName.values()],
    put: (name, grant) => {
      const before = byName.get(name)
      if (isDeepStrictEqual(before, grant)) return
      if (grant === undefined) byName.delete(name)
      else byName.set(name, grant)
      const changed = [before, grant].flatMap((one) => one ?? [])
      onChange((namespace) => changed.some((one) => isSelected(one, namespace)))
    },
    setLabels: (namespace, labels) => {
      if (isDeepStrictEqual(labelsOf(namespace), labels)) return
      if (labels === undefined) labelsByNamespace.delete(namespace)
      else labelsByNamespace.set(namespace, labels)
      if (hasSelectors()) onChange((one) => one === namespace)
    },
    count: (selection) => {
      const { names = [], selector } = selection
      if (selector === undefined) return new Set(names).size
      const all = new Set([...names, ...labelsByNamespace.keys()])
      return [...all].filter((one) => selects(selection, one, labelsOf(one)) === true).length
    },
  }
}
