import type { OtlpGroup, OtlpRequest } from '../contract.ts'

/** A part of a request: its groups, of which `last` belongs to the group of `source`. */
type Slice<Item> = {
  groups: OtlpGroup<Item>[]
  items: number
  source: OtlpGroup<Item> | undefined
}

/**
 * Cuts a request into ones of about `items_max` items. The items of a trace stay together, and in
 * order, as the mapper lets them say things of each other; so a large trace makes a large slice.
 * Counts of the whole stay with the whole.
 */
export function slicesOf<Item extends { trace_id: string }>(
  request: OtlpRequest<Item>,
  items_max: number,
): OtlpRequest<Item>[] {
  const slices: Slice<Item>[] = []
  const byTrace = new Map<string, Slice<Item>>()
  let open: Slice<Item> | undefined
  for (const group of request.groups) {
    for (const item of group.items) {
      let slice = item.trace_id === '' ? undefined : byTrace.get(item.trace_id)
      if (slice === undefined) {
        if (open === undefined || open.items >= items_max) {
          open = { groups: [], items: 0, source: undefined }
          slices.push(open)
        }
        slice = open
        byTrace.set(item.trace_id, slice)
      }
      put(slice, group, item)
    }
  }
  return slices.map(({ groups, items }) => ({
    groups,
    items,
    rejected: new Map(),
    first_rejection: '',
    warnings: new Map(),
  }))
}

function put<Item>(slice: Slice<Item>, group: OtlpGroup<Item>, item: Item): void {
  if (slice.source !== group) {
    slice.source = group
    slice.groups.push({ resource: group.resource, scope: group.scope, items: [] })
  }
  slice.groups.at(-1)?.items.push(item)
  slice.items += 1
}
