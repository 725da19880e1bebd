import type { OtlpGroup, OtlpRequest } from '../contract.ts'

/**
 * Cuts a request into ones of at most `items_max` items, in order; groups that are larger are cut
 * too. The counts of the whole stay with the whole: those of a slice are of its own items.
 */
export function* slicesOf<Item>(
  request: OtlpRequest<Item>,
  items_max: number,
): Generator<OtlpRequest<Item>> {
  let groups: OtlpGroup<Item>[] = []
  let held = 0
  for (const { resource, scope, items } of request.groups) {
    for (let at = 0; at < items.length; ) {
      const part = items.slice(at, at + items_max - held)
      groups.push({ resource, scope, items: part })
      at += part.length
      held += part.length
      if (held < items_max) continue
      yield sliceOf(groups, held)
      groups = []
      held = 0
    }
  }
  if (held > 0) yield sliceOf(groups, held)
}

function sliceOf<Item>(groups: OtlpGroup<Item>[], items: number): OtlpRequest<Item> {
  return { groups, items, rejected: new Map(), first_rejection: '', warnings: new Map() }
}
