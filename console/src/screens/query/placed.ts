/** Returns items with their places, which are their keys: the parts of a query have no ids. */
export function placed<T>(items: readonly T[]): { item: T; at: number; key: string }[] {
  return items.map((item, at) => ({ item, at, key: `place-${at}` }))
}

/** Returns a list with one item changed, or removed with undefined. */
export function withItem<T>(items: readonly T[], at: number, item: T | undefined): T[] {
  return items.flatMap((each, place) => (place === at ? (item ?? []) : [each])) as T[]
}
