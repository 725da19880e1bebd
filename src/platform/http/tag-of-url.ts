/**
 * Returns the tag of an operation by its URL: the noun that the document and the metrics group it by.
 */
export function tagOf(url: string): string {
  const [, first = '', second = '', third = ''] = url.split('/')
  if (second === 'public') return 'proxy'
  if (first !== 'api') return first === 'v1' || first === 'v1beta' ? 'proxy' : 'service'
  return second === 'v2' || second === 'v1' ? third : second
}
