import { isDeepStrictEqual } from 'node:util'
import { type Grant, type Labels, type NamespaceSelection, selects } from './grant.ts'

/** The grants in force and the labels of namespaces, as last read. */
export type GrantBook = {
  /** Sets or removes the grant of a ProjectGrant. */
  put(key: string, grant: Grant | undefined): void
  /** Notes whether a ProjectGrant has a spec that this version of the operator cannot read. */
  setUnreadable(name: string, isUnreadable: boolean): void
  isUnreadable(name: string): boolean
  /** Returns the grants that name the namespace, and all that select namespaces by labels. */
  grantsFor(namespace: string): readonly Grant[]
  /** Returns the names by which grants name a project. */
  namesOf(project_id: string): ReadonlySet<string>
  /** Whether any grant selects namespaces by labels. */
  hasSelectors(): boolean
  setLabels(namespace: string, labels: Labels | undefined): void
  /** Returns undefined for a namespace that was not read yet. */
  labelsOf(namespace: string): Labels | undefined
  /** Returns the selected namespaces. */
  select(selection: NamespaceSelection): readonly string[]
  /** Returns all grants in force. */
  all(): readonly Grant[]
}

/** Called when decisions for the resources of these namespaces may have changed. */
export type OnGrantChange = (namespaces: readonly string[]) => void

/** Creates an empty book. Look-ups cost as much as their result, also with thousands of grants. */
export function createGrantBook(onChange: OnGrantChange): GrantBook {
  const byKey = new Map<string, Grant>()
  const byTerm = new Map<string, Map<string, Grant>>()
  const labelsByNamespace = new Map<string, Labels>()
  const unreadable = new Set<string>()
  const labelsOf = (namespace: string) => labelsByNamespace.get(namespace)
  const find = (term: string) => [...(byTerm.get(term)?.values() ?? [])]
  const select = (selection: NamespaceSelection) => {
    const { names = [], selector } = selection
    if (selector === undefined) return [...new Set(names)]
    const known = [...labelsByNamespace.keys()]
    return known.filter((one) => selects(selection, one, labelsOf(one)) === true)
  }
  const remove = (key: string, grant: Grant) => {
    byKey.delete(key)
    for (const term of termsOf(grant)) {
      byTerm.get(term)?.delete(key)
      if (byTerm.get(term)?.size === 0) byTerm.delete(term)
    }
  }
  const add = (key: string, grant: Grant) => {
    byKey.set(key, grant)
    for (const term of termsOf(grant)) {
      byTerm.set(term, (byTerm.get(term) ?? new Map<string, Grant>()).set(key, grant))
    }
  }
  return {
    labelsOf,
    select,
    isUnreadable: (name) => unreadable.has(name),
    setUnreadable: (name, is) => void (is ? unreadable.add(name) : unreadable.delete(name)),
    hasSelectors: () => byTerm.has(selectorTerm),
    grantsFor: (namespace) => [...find(namespaceTerm(namespace)), ...find(selectorTerm)],
    namesOf: (id) => new Set(find(projectTerm(id)).flatMap(({ project }) => project?.name ?? [])),
    put: (key, grant) => {
      const before = byKey.get(key)
      if (isDeepStrictEqual(before, grant)) return
      if (before !== undefined) remove(key, before)
      if (grant !== undefined) add(key, grant)
      const changed = [before, grant].flatMap((one) => one ?? [])
      onChange([...new Set(changed.flatMap(({ namespaces }) => select(namespaces)))])
    },
    setLabels: (namespace, labels) => {
      if (isDeepStrictEqual(labelsOf(namespace), labels)) return
      if (labels === undefined) labelsByNamespace.delete(namespace)
      else labelsByNamespace.set(namespace, labels)
      if (byTerm.has(selectorTerm)) onChange([namespace])
    },
    all: () => [...byKey.values()],
  }
}

const selectorTerm = 'selector'
const namespaceTerm = (namespace: string) => `namespace/${namespace}`
const projectTerm = (id: string) => `project/${id}`

function termsOf({ namespaces, project_id }: Grant): string[] {
  const { names = [], selector } = namespaces
  return [
    projectTerm(project_id),
    ...names.map(namespaceTerm),
    ...(selector === undefined ? [] : [selectorTerm]),
  ]
}
