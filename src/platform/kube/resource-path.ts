import type { KubeResource } from './kube-client.ts'

/** A list, an object or one of its subresources. */
export type Target = KubeResource & {
  namespace?: string | undefined
  name?: string | undefined
  subresource?: string | undefined
}

/**
 * The path of a target: `/api/v1/…` for the core group, else `/apis/<group>/<version>/…`.
 * https://kubernetes.io/docs/reference/using-api/api-concepts/#resource-uris
 */
export function resourcePath(target: Target): string {
  const { group, version, plural, namespace, name, subresource } = target
  const root = group === '' ? ['api', version] : ['apis', group, version]
  const place = namespace === undefined ? [] : ['namespaces', namespace]
  const object = name === undefined ? [] : [name]
  const part = subresource === undefined ? [] : [subresource]
  const segments = [...root, ...place, plural, ...object, ...part]
  return `/${segments.map(encodeURIComponent).join('/')}`
}

/** A path with those of the values that are there. */
export function withQuery(
  path: string,
  values: Readonly<Record<string, string | number | undefined>>,
): string {
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries(values)) {
    if (value !== undefined) query.set(name, String(value))
  }
  return query.size === 0 ? path : `${path}?${query}`
}

/** As RBAC's rules and kubectl say it: `retentionpolicies.looptrace.dev/status`. */
export function resourceName({ group, plural, subresource }: Target): string {
  const whole = group === '' ? plural : `${plural}.${group}`
  return subresource === undefined ? whole : `${whole}/${subresource}`
}
