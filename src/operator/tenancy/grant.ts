/**
 * A ProjectGrant with its resolved project: the namespaces and kinds that may name the project, and
 * their ceilings.
 */
export type Grant = {
  /** Name of the ProjectGrant. */
  name: string
  project_id: string
  /** How resources may name the project; undefined for a grant by id, which is named by id only. */
  project: { organization: string; name: string } | undefined
  namespaces: NamespaceSelection
  kinds: readonly string[]
  scopes: readonly string[]
  roles: readonly string[]
  /** Maximum keys that the resources of one namespace may declare together. */
  max_keys: number
  /** Time from the end of the grant to the revocation, as in the spec: `1h`. */
  revoke_after: string
}

/** Namespaces by name or by a label selector. */
export type NamespaceSelection = {
  names?: readonly string[] | undefined
  selector?: LabelSelector | undefined
}

/** A label selector (metav1.LabelSelector). One without any condition matches everything. */
export type LabelSelector = {
  matchLabels?: Readonly<Record<string, string>> | undefined
  matchExpressions?:
    | readonly {
        key: string
        operator: 'In' | 'NotIn' | 'Exists' | 'DoesNotExist'
        values?: readonly string[] | undefined
      }[]
    | undefined
}

export type Labels = Readonly<Record<string, string>>

/**
 * Whether a selection has a namespace. Returns `unknown` when that depends on labels that are not
 * known yet.
 */
export function selects(
  { names, selector }: NamespaceSelection,
  namespace: string,
  labels: Labels | undefined,
): boolean | 'unknown' {
  if (names?.includes(namespace)) return true
  if (selector === undefined) return false
  return labels === undefined ? 'unknown' : matchesLabels(selector, labels)
}

/**
 * Whether labels match a selector: all conditions must hold.
 * https://kubernetes.io/docs/concepts/overview/working-with-objects/labels/#label-selectors
 */
export function matchesLabels(
  { matchLabels = {}, matchExpressions = [] }: LabelSelector,
  labels: Labels,
): boolean {
  const own = new Map(Object.entries(labels))
  const hasLabels = Object.entries(matchLabels).every(([key, value]) => own.get(key) === value)
  if (!hasLabels) return false
  return matchExpressions.every(({ key, operator, values = [] }) =>
    conditions[operator](own.get(key), values),
  )
}

const conditions = {
  In: (value: string | undefined, values: readonly string[]) =>
    value !== undefined && values.includes(value),
  NotIn: (value: string | undefined, values: readonly string[]) =>
    value === undefined || !values.includes(value),
  Exists: (value: string | undefined) => value !== undefined,
  DoesNotExist: (value: string | undefined) => value === undefined,
}
